internal import Glibc

extension SignalSource {
    /// The signals that end a program by default, and that a program can handle.
    ///
    /// Left out are the signals of crashes, and SIGPIPE and SIGXFSZ, since write(2) reports the same failures.
    public static var endingSignals: [CInt] {
        let named = [
            SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT,
            SIGXCPU, SIGSYS,
        ]
        return named + (__libc_current_sigrtmin()...__libc_current_sigrtmax())
    }

    /// Whether the process ignores the signal, as with SIGHUP under nohup. Costs a system call.
    package static func isIgnored(_ signal: CInt) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return true }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1  // SIG_IGN
    }
}
