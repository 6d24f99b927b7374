internal import Glibc

extension SignalSource {
    /// The signals that end a program by default, and that it can attend to.
    ///
    /// Left out are those that tell of a crash, and what whoever started the program wants ignored, as nohup does with
    /// SIGHUP; SIGPIPE and SIGXFSZ too: who writes is told.
    public static var endingSignals: [CInt] {
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
