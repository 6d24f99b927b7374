internal import CDescriptorIO
internal import Glibc

/// Signals as events of a loop, by signalfd.
///
/// Make it before other threads are started: they inherit that the signals are blocked.
public actor SignalSource {
    public nonisolated let unownedExecutor: UnownedSerialExecutor

    private let channel: DescriptorChannel
    private let signals: [CInt]

    /// Takes over `signals` until ``close()``, handing each that comes to `handler` on the loop's thread.
    public static func open(
        _ signals: [CInt], on loop: EventLoop, handler: @escaping @Sendable (CInt) -> Void
    ) async throws(DescriptorError) -> SignalSource {
        var set = Self.set(of: signals)
        pthread_sigmask(SIG_BLOCK, &set, nil)
        let descriptor = signalfd(-1, &set, CInt(SFD_CLOEXEC | SFD_NONBLOCK))
        guard descriptor >= 0 else { throw .last("signalfd") }
        let source = SignalSource(DescriptorChannel(taking: descriptor, kind: .stream, on: loop), signals)
        await source.channel.forward { arrival in
            guard case .success(let bytes?) = arrival else { return }
            for offset in stride(from: 0, to: bytes.count, by: MemoryLayout<signalfd_siginfo>.size) {
                let info = bytes.withUnsafeBytes {
                    $0.loadUnaligned(fromByteOffset: offset, as: signalfd_siginfo.self)
                }
                handler(CInt(info.ssi_signo))
            }
        }
        return source
    }

    private init(_ channel: DescriptorChannel, _ signals: [CInt]) {
        self.channel = channel
        self.signals = signals
        unownedExecutor = channel.unownedExecutor
    }

    private static func set(of signals: [CInt]) -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        return set
    }

    /// Gives the signals back to what they did before.
    public func close() async {
        await channel.close()
        var set = Self.set(of: signals)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }
}
