// libdbus.a calls two functions of libsystemd, for servers that get their sockets from systemd. A release build of
// pumpctl links libdbus.a. It is not such a server, and libsystemd would load libgcrypt, liblzma, libzstd and liblz4 at
// every start, so it takes these stubs instead. Other builds leave the stubs out: even a weak function of a program
// takes precedence over the function of a shared library, so a server that depends on this package would never get its
// sockets.
#ifdef CDBUS_REPLACES_LIBSYSTEMD

__attribute__((weak)) int sd_listen_fds(int unset_environment);
__attribute__((weak)) int sd_is_socket(int descriptor, int family, int type, int listening);

int sd_listen_fds(int unset_environment) {
    (void)unset_environment;
    return 0;
}

int sd_is_socket(int descriptor, int family, int type, int listening) {
    (void)descriptor, (void)family, (void)type, (void)listening;
    return 0;
}

#endif
