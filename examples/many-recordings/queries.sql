-- SPDX-License-Identifier: MIT
-- Read by with_duckdb.py and with_spark.py. A line "-- name: NAME" is before each query.

-- name: recordings
SELECT host, day, recording, app_events, kernel_events, lost_app + lost_kernel AS lost
FROM recording
ORDER BY host, day, recording;

-- name: exchanges
-- Time of requests in the server's program, and of all of them as their client waited, by host and day.
SELECT host, day, role, count(*) AS exchanges,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY reply_last_ns - request_first_ns) / 1000, 3) AS p50_us,
       round(percentile_cont(0.99) WITHIN GROUP (ORDER BY reply_last_ns - request_first_ns) / 1000, 3) AS p99_us
FROM exchange
WHERE answer = 'answered' AND request_first_ns IS NOT NULL AND reply_last_ns IS NOT NULL
GROUP BY host, day, role
ORDER BY host, day, role;

-- name: bytes
-- What each program moved, and the share of it whose way through every layer is known.
SELECT host, program, kind, count(DISTINCT flow) AS flows, sum(bytes) AS bytes, sum(followed) AS followed
FROM flow
GROUP BY host, program, kind
ORDER BY bytes DESC, host, program, kind;

-- name: waits
-- Where sent bytes waited: time of each range in the stage, weighted by its bytes, in milliseconds a byte.
SELECT host, count(*) AS ranges, sum(length) AS bytes,
       round(sum(length * stage_send_buffer_ns) / sum(length) / 1000000, 6) AS send_buffer_ms,
       round(sum(length * stage_qdisc_ns) / sum(length) / 1000000, 6) AS qdisc_ms,
       round(sum(length * stage_driver_ns) / sum(length) / 1000000, 6) AS driver_ms
FROM range
WHERE flow LIKE '%/tx' AND outcome = 'followed'
GROUP BY host
ORDER BY host;

-- name: calls
SELECT host, function, count(*) AS calls, sum(bytes) AS bytes, max(end_ns - begin_ns) AS longest_ns
FROM call
WHERE function IS NOT NULL
GROUP BY host, function
ORDER BY calls DESC, host, function;

-- name: packets
SELECT host, layer, count(*) AS passed, sum(packets) AS packets, sum(payload) AS payload
FROM packet
GROUP BY host, layer
ORDER BY host, layer;

-- name: trouble
-- Hosts and days with drops or segments that were sent again.
SELECT host, day, sum(dropped) AS dropped, sum(retransmits) AS retransmits
FROM flow
GROUP BY host, day
ORDER BY host, day;
