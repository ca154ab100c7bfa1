/* SPDX-License-Identifier: MIT */
/* The component classes sink.magnet.report and sink.magnet.show. */
#ifndef MAGNET_CORRELATE_BT_SINK_H
#define MAGNET_CORRELATE_BT_SINK_H

#include <babeltrace2/babeltrace.h>

bt_component_class_initialize_method_status sink_report_init(bt_self_component_sink *self,
	bt_self_component_sink_configuration *configuration, const bt_value *params, void *data);
bt_component_class_initialize_method_status sink_show_init(bt_self_component_sink *self,
	bt_self_component_sink_configuration *configuration, const bt_value *params, void *data);
bt_component_class_sink_graph_is_configured_method_status sink_configured(
	bt_self_component_sink *self);
bt_component_class_sink_consume_method_status sink_consume(bt_self_component_sink *self);
void sink_end(bt_self_component_sink *self);

#endif
