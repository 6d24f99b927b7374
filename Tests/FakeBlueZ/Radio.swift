public import DescriptorIO

/// What all of the fake is isolated to: an event loop with a thread of its own.
@globalActor
public actor Radio {
    public static let shared = Radio()
    /// The loop that fakes, and the simulated devices behind them, run on.
    public static let loop: EventLoop = {
        let loop = EventLoop()
        loop.start()
        return loop
    }()

    public nonisolated var unownedExecutor: UnownedSerialExecutor { Self.loop.asUnownedSerialExecutor() }
    private init() {}

    /// Does several things at once, with nothing in between:
    ///
    /// ```swift
    /// await Radio.run { pump.radio.manners.mtu = 185 }
    /// ```
    public static func run<Value: Sendable>(_ body: @Radio () throws -> Value) async rethrows -> Value {
        try await body()
    }

    /// Begins something. All of it runs on the loop, also what is called that belongs to nobody.
    @Radio @discardableResult
    static func begin<Value: Sendable>(_ body: @escaping @Radio () async -> Value) -> Task<Value, Never> {
        Task(executorPreference: loop) { await body() }
    }

    /// Begins something that may fail.
    @Radio @discardableResult
    static func begin<Value: Sendable>(
        _ body: @escaping @Radio () async throws -> Value
    ) -> Task<Value, any Error> {
        Task(executorPreference: loop) { try await body() }
    }

    /// Waits until all that can run now has run: answers to calls are sent by then.
    @Radio static func idle() async {
        // The loop looks at its timers when it has nothing else to do.
        try? await EventLoopClock(loop).sleep(for: .zero)
    }
}
