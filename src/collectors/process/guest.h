/* SPDX-License-Identifier: MIT */
/*
 * process/guest.h - processes that run a virtual machine by KVM.
 *
 * The guest's accesses set no bits in the process's page tables, but in those that the processor
 * translates the guest's addresses by (EPT, NPT).
 *
 * Sources: virt/kvm/kvm_main.c (kvm_dev_ioctl_create_vm: the descriptor's name);
 * Documentation/filesystems/proc.rst (/proc/PID/fd).
 */
#ifndef HEADROOM_COLLECTORS_PROCESS_GUEST_H
#define HEADROOM_COLLECTORS_PROCESS_GUEST_H

#include <stdbool.h>

struct hr_process_list;
struct hr_process;
struct hr_root;

/**
 * Finds a process that has the descriptor of a virtual machine. Costs a call for each descriptor of
 * the processes, but nothing where the kernel hasn't got KVM.
 *
 * @return the first; NULL: there is none, or their descriptors may not be read.
 */
const struct hr_process *hr_process_find_guest(const struct hr_root *root,
                                               const struct hr_process_list *processes);

#endif
