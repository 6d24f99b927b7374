public import DescriptorIO

/// The global actor of the fake: an event loop with its own thread.
@globalActor
public actor Radio {
    public static let shared = Radio()
    /// The event loop of fakes and of the simulated devices connected to them.
    public static let loop: EventLoop = {
        let loop = EventLoop()
        loop.start()
        return loop
    }()

    public nonisolated var unownedExecutor: UnownedSerialExecutor { Self.loop.asUnownedSerialExecutor() }
    private init() {}

    /// Runs several actions without interruption:
    ///
    /// ```swift
    /// await Radio.run { pump.radio.manners.mtu = 185 }
    /// ```
    public static func run<Value: Sendable>(_ body: @Radio () throws -> Value) async rethrows -> Value {
        try await body()
    }

    /// Starts a task on the loop. Functions without an isolation that it calls run there too.
    @Radio @discardableResult
    static func begin<Value: Sendable>(_ body: @escaping @Radio () async -> Value) -> Task<Value, Never> {
        Task(executorPreference: loop) { await body() }
    }

    /// Starts a task on the loop that may throw.
    @Radio @discardableResult
    static func begin<Value: Sendable>(
        _ body: @escaping @Radio () async throws -> Value
    ) -> Task<Value, any Error> {
        Task(executorPreference: loop) { try await body() }
    }

    /// Waits until all jobs that are ready have run; the replies to calls are sent by then.
    @Radio static func idle() async {
        // The loop handles timers when it has nothing else to do.
        try? await EventLoopClock(loop).sleep(for: .zero)
    }
}
