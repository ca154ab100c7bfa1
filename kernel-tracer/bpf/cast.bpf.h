/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reads a structure at an address of a type unknown to the verifier. Since 6.2 programs can declare
 * the type (MG_CAST), and a member is one load; before, each member takes a helper call. The
 * programs are compiled both ways: testing for the function at load time takes more privilege where
 * it does not exist.
 */
#ifndef MAGNET_BPF_CAST_H
#define MAGNET_BPF_CAST_H

#ifndef MG_CAST

#define CAN_CAST                 0
#define bpf_rdonly_cast(p, id)   ((const void *)(p))
#define CAST(type, p)            ((struct type *)(p))
#define MEMBER(type, p, m)       BPF_CORE_READ((struct type *)(p), m)
#define MEMBER_OF(type, p, m, n) BPF_CORE_READ((struct type *)(p), m, n)
#define POINTER(type, p, m)      ((p)->m)
#define TASK_POINTER(t, m)       TASK_READ(t, m)
#define GET(p, m)                BPF_CORE_READ(p, m)

#else

extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym;

#define CAN_CAST                 1
#define CAST(type, p)            ((struct type *)bpf_rdonly_cast((p), bpf_core_type_id_kernel(struct type)))
/*
 * Read a member, and a member of what a member points to. Of several members, cast once and read
 * them by GET: a cast is a call to the compiler, and leaves three instructions.
 */
#define MEMBER(type, p, m)       (CAST(type, p)->m)
#define MEMBER_OF(type, p, m, n) (CAST(type, p)->m->n)
#define GET(p, m)                ((p)->m)
/*
 * Reads a member that is a pointer. For one of a trusted structure the verifier searches all types
 * of the kernel for a statement that it may be trusted too, a third of a millisecond each time; it
 * takes the pointer that a cast gives as untrusted.
 */
#define POINTER(type, p, m)      (CAST(type, p)->m)
#define TASK_POINTER(t, m)       POINTER(task_struct, t, m)

#endif

/* Returns the TCP socket that `sk`, which is one, begins. A cast takes no helper's call. */
#if CAN_CAST
#define TCP_SOCK(sk) CAST(tcp_sock, sk)
#else
#define TCP_SOCK(sk) bpf_skc_to_tcp_sock(sk)
#endif

/*
 * Marks a function that the verifier follows once if it is a global one. Reading by helpers takes
 * large frames, and frames of all functions share 512 bytes: there it is inlined.
 */
#if CAN_CAST
#define __followed_once __noinline
#else
#define __followed_once static __always_inline
#endif

#endif
