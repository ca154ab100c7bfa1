/* SPDX-License-Identifier: MIT */
/* The babeltrace2 plugin `magnet` and its components. */
#include "bt/filter.h"
#include "bt/sink.h"

BT_PLUGIN_MODULE();
BT_PLUGIN(magnet);
BT_PLUGIN_DESCRIPTION("Where an application's bytes wait between send() and the wire");
BT_PLUGIN_AUTHOR("the magnet authors");
BT_PLUGIN_LICENSE("MIT");

/* The end of each component's help: babeltrace2 prints the author of the plugin only there. */
#define WITH_EXAMPLE(help, example)                                       \
	help "\n\nExample:\n\n  $ babeltrace2 TRACE --component=" example \
	     "\n\nAuthor: the magnet authors. See magnet-plugin(7)."

BT_PLUGIN_SINK_COMPONENT_CLASS(report, sink_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(report, "The report of magnet-report(1).");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(report,
	WITH_EXAMPLE(
		"Parameters: format=\"text\"|\"json\" (default text), path=FILE (default standard "
		"output), session=FILE (session.json of the recording), flow=ID (only that flow), "
		"on-demand=LIST (more figures). See magnet-report(1).",
		"sink.magnet.report --params='format=\"json\"'"));
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(report, sink_report_init);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(report, sink_end);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(report, sink_configured);

BT_PLUGIN_SINK_COMPONENT_CLASS(show, sink_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(show, "Every event of magnet-show(1).");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(show,
	WITH_EXAMPLE(
		"Parameters: format=\"text\"|\"tsv\" (default text), path=FILE (default standard "
		"output), session=FILE (session.json of the recording), flow=ID (only that flow), "
		"from=S and to=S (seconds after the first event). In a live session events are "
		"printed as they come. See magnet-show(1).",
		"sink.magnet.show --params='flow=\"4097/tx\"'"));
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(show, sink_show_init);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(show, sink_end);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(show, sink_configured);

BT_PLUGIN_FILTER_COMPONENT_CLASS(flow, filter_next);
BT_PLUGIN_FILTER_COMPONENT_CLASS_DESCRIPTION(
	flow, "Only magnet's events of one flow, process or thread pass.");
BT_PLUGIN_FILTER_COMPONENT_CLASS_HELP(flow,
	WITH_EXAMPLE("Parameters: flow=ID (\"4097/tx\", or \"4097\" for both directions), pid=N, "
		     "tid=N; at least one, and all that are given must fit; session=FILE "
		     "(session.json of the recording).",
		"filter.magnet.flow --params='flow=\"4097/tx\"' --component=sink.text.pretty"));
BT_PLUGIN_FILTER_COMPONENT_CLASS_INITIALIZE_METHOD(flow, filter_init);
BT_PLUGIN_FILTER_COMPONENT_CLASS_FINALIZE_METHOD(flow, filter_end);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(
	flow, filter_iterator_init);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(flow, filter_iterator_end);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(
	flow, filter_seek_beginning, filter_can_seek_beginning);

BT_PLUGIN_FILTER_COMPONENT_CLASS(join, filter_next);
BT_PLUGIN_FILTER_COMPONENT_CLASS_DESCRIPTION(join,
	"Events of joined calls and of bytes followed through all layers, beside all others.");
BT_PLUGIN_FILTER_COMPONENT_CLASS_HELP(join,
	WITH_EXAMPLE("Adds a stream of magnet:joined_call, magnet:atom_tx and magnet:atom_rx. "
		     "Parameters: session=FILE (session.json of the recording).",
		"filter.magnet.join --component=sink.text.pretty"));
BT_PLUGIN_FILTER_COMPONENT_CLASS_INITIALIZE_METHOD(join, join_init);
BT_PLUGIN_FILTER_COMPONENT_CLASS_FINALIZE_METHOD(join, filter_end);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(
	join, filter_iterator_init);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(join, filter_iterator_end);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(
	join, filter_seek_beginning, filter_can_seek_beginning);
