// SPDX-License-Identifier: MIT
// talk.js: an HTTP server and its clients, by node's own http and fetch, and UDP.
const http = require('http');
const dgram = require('dgram');

function get(port, agent, size) {
  return new Promise((resolve, reject) => {
    http.get({host: 'localhost', port, agent, path: '/' + size}, (answer) => {
      let got = 0;
      answer.on('data', (part) => { got += part.length; });
      answer.on('end', () => got === size ? resolve() : reject(new Error(`${got} of ${size}`)));
    }).on('error', reject);
  });
}

function datagrams() {
  return new Promise((resolve) => {
    const a = dgram.createSocket('udp4'), b = dgram.createSocket('udp4');
    let left = 20;
    b.on('message', (m, from) => b.send(m, from.port, from.address));
    a.on('message', () => --left ? a.send('ping', b.address().port, '127.0.0.1')
      : (a.close(), b.close(), resolve()));
    b.bind(0, '127.0.0.1', () => a.send('ping', b.address().port, '127.0.0.1'));
  });
}

const server = http.createServer((request, answer) => {
  answer.end(Buffer.alloc(Number(request.url.slice(1))));
});
server.listen(0, 'localhost', async () => {
  const {port} = server.address();
  const agent = new http.Agent({keepAlive: true, maxSockets: 4});
  for (let i = 0; i < 20; i++)
    await Promise.all([100, 10000, 300000].map((size) => get(port, agent, size)));
  if (typeof fetch === 'function')
    for (let i = 0; i < 5; i++)
      await (await fetch(`http://localhost:${port}/5000`)).arrayBuffer();
  await datagrams();
  agent.destroy();
  server.close();
  server.closeAllConnections?.();
});
