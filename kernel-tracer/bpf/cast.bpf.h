/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reading a structure at an address the verifier knows nothing of. Since 6.2 it can be told what
 * lies there: then a member is one load; before, each takes a call.
 */
#ifndef MAGNET_BPF_CAST_H
#define MAGNET_BPF_CAST_H

#ifdef MG_OLD

#define CAN_CAST                 0
#define bpf_rdonly_cast(p, id)   ((const void *)(p))
#define CAST(type, p)            ((struct type *)(p))
#define MEMBER(type, p, m)       BPF_CORE_READ((struct type *)(p), m)
#define MEMBER_OF(type, p, m, n) BPF_CORE_READ((struct type *)(p), m, n)

#else

extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym __weak;

#define CAN_CAST           (bpf_rdonly_cast)
#define CAST(type, p)      ((struct type *)bpf_rdonly_cast((p), bpf_core_type_id_kernel(struct type)))
/* A member, and one of what a member points to. */
#define MEMBER(type, p, m) (CAN_CAST ? CAST(type, p)->m : BPF_CORE_READ((struct type *)(p), m))
#define MEMBER_OF(type, p, m, n) \
	(CAN_CAST ? CAST(type, p)->m->n : BPF_CORE_READ((struct type *)(p), m, n))

#endif
#endif
