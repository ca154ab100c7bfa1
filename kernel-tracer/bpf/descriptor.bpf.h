/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Finds the socket behind an open file, or a descriptor of the current thread. */
#ifndef MAGNET_BPF_DESCRIPTOR_H
#define MAGNET_BPF_DESCRIPTOR_H

/*
 * The operations of sockets' files, once a socket has been met: all have the same, and no other
 * file has them. They are beside the pointer to the socket, where the type of a file takes two
 * loads from its inode.
 */
volatile __u64 socket_operations SEC(".data.found") = 0;

/* Returns the socket of an open file, NULL if it is none. */
static __always_inline struct sock *sock_of_file(const struct file *f)
{
	const struct file *file = CAST(file, f);
	__u64 operations = (__u64)GET(file, f_op);
	bool known = operations && operations == socket_operations;
	struct sock *sk;
	void *socket;

	if (!known && (MEMBER_OF(file, f, f_inode, i_mode) & S_IFMT) != S_IFSOCK)
		return NULL;
	socket = GET(file, private_data);
	sk = MEMBER(socket, socket, sk);
	/*
	 * without `sk` it is a name in a file system, opened with O_PATH; and the file may have
	 * become another one meanwhile
	 */
	if (!known && sk && (__u64)GET(file, f_op) == operations)
		socket_operations = operations;
	return sk;
}

/* Returns the socket behind a descriptor of the current thread, NULL if it is none. */
static __always_inline struct sock *sock_of_fd(const struct task_struct *t, __s64 fd)
{
	struct files_struct *files = TASK_POINTER(t, files);
	struct fdtable *fdt = TASK_READ(files, fdt);
	struct file **slot = TASK_READ(fdt, fd), *f = NULL;

	if ((__u64)fd >= TASK_READ(fdt, max_fds))
		return NULL;
	if (CAN_CAST)
		f = (void *)CAST(list_head, slot + fd)
			    ->next; /* any type that begins with a pointer */
	else
		bpf_probe_read_kernel(&f, sizeof(f), slot + fd);
	return f ? sock_of_file(f) : NULL;
}

#endif
