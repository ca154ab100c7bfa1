/* SPDX-License-Identifier: MIT */
/* The babeltrace2 plugin `magnet`: its components. */
#include "bt/sink.h"

BT_PLUGIN_MODULE();
BT_PLUGIN(magnet);
BT_PLUGIN_DESCRIPTION("Where an application's bytes wait between send() and the wire");
BT_PLUGIN_LICENSE("MIT");

BT_PLUGIN_SINK_COMPONENT_CLASS(report, sink_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(report, "The report of magnet-report(1).");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(report,
	"Parameters: format=\"text\"|\"json\" (default text), path=FILE (default standard output), "
	"session=FILE (session.json of the recording). See magnet-report(1).");
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(report, sink_report_init);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(report, sink_end);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(report, sink_configured);

BT_PLUGIN_SINK_COMPONENT_CLASS(show, sink_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(show, "Every event of magnet-show(1).");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(show,
	"Parameters: format=\"text\"|\"tsv\" (default text), path=FILE (default standard output), "
	"session=FILE (session.json of the recording), flow=ID (only that flow). "
	"See magnet-show(1).");
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(show, sink_show_init);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(show, sink_end);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(show, sink_configured);
