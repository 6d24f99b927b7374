// The two functions of libsystemd that libdbus.a refers to, for servers that systemd hands a socket to. This is no
// server, and libsystemd would bring libgcrypt, liblzma, libzstd and liblz4 into every start.
int sd_listen_fds(int unset_environment);
int sd_is_socket(int descriptor, int family, int type, int listening);

int sd_listen_fds(int unset_environment) {
    (void)unset_environment;
    return 0;
}

int sd_is_socket(int descriptor, int family, int type, int listening) {
    (void)descriptor, (void)family, (void)type, (void)listening;
    return 0;
}
