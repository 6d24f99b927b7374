// libdbus.a calls two functions of libsystemd, for servers that get their sockets from systemd. A release of pumpctl is linked
// with libdbus.a and has them here: it is no server, and libsystemd would bring libgcrypt, liblzma, libzstd and liblz4 into
// every start. Other builds leave them out. Even a weak function of a program goes before that of a shared library: a server
// that depends on this package would never get its sockets.
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
