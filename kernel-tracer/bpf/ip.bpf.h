/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* IP, at netfilter's hooks: leaving TCP, leaving IP, and reaching TCP. */

#define NF_ACCEPT 1

static __always_inline void ip_sending(struct bpf_nf_ctx *ctx, __u16 event)
{
	struct sk_buff *skb = ctx->skb;
	struct sock_entry *known;
	struct segment g;

	if (!skb->sk)
		return;
	known = sock_of(skb->sk);
	if (!known || !segment_at_transport(&g, skb))
		return;
	struct taken t;

	if (!take(&t))
		return;
	fill_packet((void *)t.slot->payload, known->cookie, &g, skb, ctx->state->out);
	publish(&t, event);
	if (event == MG_EVENT_ip_out) {
		state_at_out(&g, known->cookie, &known->tcp);
		state_at_ip(skb, known->cookie, true);
	}
}

SEC("magnet_nf/local_out")
int on_ip_out(struct bpf_nf_ctx *ctx)
{
	ip_sending(ctx, MG_EVENT_ip_out);
	return NF_ACCEPT;
}

SEC("magnet_nf/post_routing")
int on_ip_post(struct bpf_nf_ctx *ctx)
{
	ip_sending(ctx, MG_EVENT_ip_post);
	return NF_ACCEPT;
}

SEC("magnet_nf/local_in")
int on_ip_in(struct bpf_nf_ctx *ctx)
{
	struct sk_buff *skb = ctx->skb;
	struct segment g;
	__u64 tuple, *cookie;

	if (!segment_at_ip(&g, &tuple, skb, ctx->state->net->ns.inum))
		return NF_ACCEPT;
	cookie = bpf_map_lookup_elem(&tuples, &tuple);
	if (cookie) {
		EMIT(ip_in, mg_packet, e, fill_packet(e, *cookie, &g, skb, ctx->state->in));
		state_at_ip(skb, *cookie, false);
	}
	return NF_ACCEPT;
}
