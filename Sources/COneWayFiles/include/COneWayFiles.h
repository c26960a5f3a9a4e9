// System calls of Linux that its C library declares only for programs that ask for GNU extensions,
// which Swift's overlay does not.

#ifndef COneWayFiles_h
#define COneWayFiles_h

// Has the system write everything to the disk that was changed in the file system of an open file,
// and waits for it. Returns 0, or -1 with errno. Elsewhere than on Linux, it covers all file
// systems. Source: syncfs(2).
int owf_sync_file_system(int descriptor);

#endif
