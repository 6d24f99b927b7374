// libdbus.a refers to two functions of libsystemd, for servers that systemd hands a socket to. pumpctl is none, and
// libsystemd would bring libgcrypt, liblzma, libzstd and liblz4 into every start: a release, which is linked with libdbus.a,
// has these in their place. No other build has them: a program's own function comes before that of a shared library, weak or
// not, and a server with this sd_listen_fds would never get its sockets.
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
