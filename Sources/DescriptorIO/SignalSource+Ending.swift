internal import Glibc

extension SignalSource {
    /// The signals that end a program by default, and that it can attend to.
    ///
    /// Left out are those that tell of a crash; SIGPIPE and SIGXFSZ too: who writes is told.
    public static var endingSignals: [CInt] {
        let named = [
            SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT,
            SIGXCPU, SIGSYS,
        ]
        return named + (__libc_current_sigrtmin()...__libc_current_sigrtmax())
    }

    /// Whether the process ignores the signal, as nohup has it do with SIGHUP. Asking costs a system call.
    package static func isIgnored(_ signal: CInt) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return true }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1  // SIG_IGN
    }
}
