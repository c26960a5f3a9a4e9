// System calls that the C library declares only for programs that ask for extensions, which Swift's
// overlay does not, or that differ between systems.

#ifndef COneWayFiles_h
#define COneWayFiles_h

// Has the system write everything to the disk that was changed in the file system of an open file,
// and waits for it. Returns 0, or -1 with errno. Elsewhere than on Linux, it covers all file
// systems. Source: syncfs(2).
int owf_sync_file_system(int descriptor);

// Has the system begin to write bytes of a file to the disk, without waiting for the end. Does
// nothing elsewhere than on Linux. Source: sync_file_range(2).
void owf_begin_write_back(int descriptor, long long offset, long long count);

// Renames a file to a name that must be free. Both names are relative to open directories. Returns
// 0, or -1 with errno: EEXIST if the name is taken; EINVAL, ENOSYS or ENOTSUP if the file system or
// the system cannot do it in one step. Sources: renameat2(2), renameatx_np(2) on Apple platforms.
int owf_rename_to_free(int from, const char *name, int to, const char *new_name);

#endif
