import Glibc

/// The signals that end a program by default, and that it can attend to.
enum EndingSignals {
    /// All of them, but for those that tell of a crash, and for what whoever started the program wants ignored, as nohup
    /// does with SIGHUP. SIGPIPE and SIGXFSZ are not among them: who writes is told.
    static var all: [CInt] {
        let named = [
            SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT,
            SIGXCPU, SIGSYS,
        ]
        let realTime = __libc_current_sigrtmin()...__libc_current_sigrtmax()
        return (named + realTime).filter { !isIgnored($0) }
    }

    private static func isIgnored(_ signal: CInt) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return true }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1  // SIG_IGN
    }
}
