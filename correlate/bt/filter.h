/* SPDX-License-Identifier: MIT */
/*
 * The component classes filter.magnet.flow, which passes only events of one flow, process or
 * thread, and filter.magnet.join, which passes all events and adds the derived ones.
 */
#ifndef MAGNET_CORRELATE_BT_FILTER_H
#define MAGNET_CORRELATE_BT_FILTER_H

#include <babeltrace2/babeltrace.h>

bt_component_class_initialize_method_status filter_init(bt_self_component_filter *self,
	bt_self_component_filter_configuration *configuration, const bt_value *params, void *data);
bt_component_class_initialize_method_status join_init(bt_self_component_filter *self,
	bt_self_component_filter_configuration *configuration, const bt_value *params, void *data);
void filter_end(bt_self_component_filter *self);
bt_message_iterator_class_initialize_method_status filter_iterator_init(
	bt_self_message_iterator *self, bt_self_message_iterator_configuration *configuration,
	bt_self_component_port_output *port);
void filter_iterator_end(bt_self_message_iterator *self);
bt_message_iterator_class_next_method_status filter_next(bt_self_message_iterator *self,
	bt_message_array_const messages, uint64_t capacity, uint64_t *count);
bt_message_iterator_class_seek_beginning_method_status filter_seek_beginning(
	bt_self_message_iterator *self);
bt_message_iterator_class_can_seek_beginning_method_status filter_can_seek_beginning(
	bt_self_message_iterator *self, bt_bool *can_seek);

#endif
