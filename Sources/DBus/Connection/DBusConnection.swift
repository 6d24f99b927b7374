public import DescriptorIO

/// A connection to a message bus, all of which runs on one event loop.
///
/// ```swift
/// let bus = try await DBusConnection.open(.system)
/// let reply = try await bus.call(
///     DBusCall(to: "org.freedesktop.hostname1", "/org/freedesktop/hostname1", "org.freedesktop.DBus.Properties", "Get",
///         [.string("org.freedesktop.hostname1"), .string("Hostname")]))
/// print(reply.first?.string ?? "no name")
///
/// for try await signal in try await bus.signals(matching: DBusMatchRule(member: "NameOwnerChanged")) {
///     print(signal.arguments)
/// }
/// ```
///
/// ## Order
///
/// The bus hands over replies and signals in one order. Handlers, of ``handleSignals(matching:_:onEnd:)`` and of
/// ``call(_:timeout:then:)``, are called in exactly that order, on the loop's thread: what is built from a reply and
/// kept up by signals is built by those. A task that awaits ``call(_:timeout:)``, and one that iterates ``DBusSignals``,
/// gets its own messages in order, and runs a little later: handlers may have been called meanwhile with what arrived
/// behind.
///
/// ## The end
///
/// When the bus goes away, all that waits ends with the one error, with ``DBusError/Code/disconnected``, and names and
/// objects are gone. ``close()`` does the same with ``DBusError/Code/closed``; sequences then end without an error. A
/// connection does not come back: open another.
public actor DBusConnection {
    /// How long a call waits for its answer where nothing else is said: 25 s, as in libdbus.
    public static let defaultTimeout: Duration = .seconds(25)

    public nonisolated var unownedExecutor: UnownedSerialExecutor { core.loop.asUnownedSerialExecutor() }
    /// The loop that all of the connection runs on.
    public nonisolated var loop: EventLoop { core.loop }

    nonisolated let core: ConnectionCore

    private init(_ core: ConnectionCore) { self.core = core }

    /// Connects to a bus, which gives the connection its ``uniqueName``.
    ///
    /// - Parameters:
    ///   - loop: What the connection runs on, and its handlers.
    ///   - clock: What time-outs are measured by; nil for the loop's own.
    /// - Throws: ``DBusError`` with ``DBusError/Code/noBus``, ``DBusError/Code/refused``,
    ///   ``DBusError/Code/timedOut``, or ``DBusError/Code/cancelled``.
    public static func open(
        _ bus: DBusBus, on loop: EventLoop = .shared, clock: (any Clock<Duration>)? = nil,
        timeout: Duration = defaultTimeout
    ) async throws(DBusError) -> DBusConnection {
        let activity = "connecting to \(bus.name)"
        guard let address = bus.address, !address.utf8.contains(0) else {
            throw DBusError(.noBus, activity: activity, hint: "set DBUS_SESSION_BUS_ADDRESS")
        }
        let connection = try await Connecting(loop: loop).connect(
            address: address, name: bus.name, clock: clock ?? EventLoopClock(loop))
        do throws(DBusError) {
            try await connection.sayHello(timeout: timeout)
        } catch {
            await connection.close()
            guard error.code == .disconnected else { throw error }
            throw DBusError(
                .noBus, name: .authFailed, message: "it closed the connection at once", activity: activity,
                hint: "check that the bus's policy admits this user")
        }
        return connection
    }

    /// Where the connection is made: libdbus belongs to the loop's thread from the first call on.
    private actor Connecting {
        nonisolated let loop: EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

        init(loop: EventLoop) { self.loop = loop }

        func connect(address: String, name: String, clock: any Clock<Duration>) throws(DBusError) -> DBusConnection {
            DBusConnection(try ConnectionCore(address: address, name: name, loop: loop, clock: clock))
        }
    }

    private func sayHello(timeout: Duration) async throws(DBusError) {
        let reply = try await call(DBusCall(toBus: "Hello"), timeout: timeout)
        core.uniqueName = reply.first?.string ?? ""
    }

    /// The name that the bus has given to the connection, as `:1.42`.
    public var uniqueName: String { core.uniqueName }

    /// What tells the bus from others, also of other computers: 32 hexadecimal digits; empty where the connection has ended.
    public var busID: String { core.busID }

    /// Whether the bus lets descriptors through.
    public var passesDescriptors: Bool { core.passesDescriptors }

    /// Whether the connection has not ended.
    public var isOpen: Bool { core.isOpen }

    // MARK: Calling

    /// Calls a method and returns what it answers.
    ///
    /// - Parameter timeout: How long to wait for the answer; nil for as long as it takes.
    /// - Throws: ``DBusError`` with ``DBusError/Code/refused`` and the name of the error that was answered; with
    ///   ``DBusError/Code/timedOut`` or ``DBusError/Code/cancelled``, where the call may have been carried out; with
    ///   ``DBusError/Code/disconnected``, ``DBusError/Code/closed`` or ``DBusError/Code/invalidArgument``.
    @discardableResult
    public func call(
        _ call: DBusCall, timeout: Duration? = defaultTimeout
    ) async throws(DBusError) -> [DBusValue] {
        let reply = OneShot<[DBusValue]>()
        let serial = try core.call(call, timeout: timeout, reply: reply)
        return try await wait(for: reply) { $0.cancelCall(serial: serial) }
    }

    /// Calls a method; `handler` gets the answer, on the loop's thread, in the order of all that arrives.
    ///
    /// - Throws: ``DBusError`` where the call can't be sent; the handler is not called then.
    public func call(
        _ call: DBusCall, timeout: Duration? = defaultTimeout,
        then handler: @escaping @Sendable (Result<[DBusValue], DBusError>) -> Void
    ) throws(DBusError) {
        try core.call(call, timeout: timeout, reply: OneShot(handler: handler))
    }

    /// Calls a method and asks for no answer, nor for an error.
    ///
    /// - Throws: ``DBusError`` where the call can't be sent.
    public func callWithoutReply(_ call: DBusCall) throws(DBusError) {
        try core.send(call.encoded(wantsNoReply: true), activity: call.activity)
    }

    /// Waits for what has begun, and stops it when the task is cancelled.
    func wait<Value>(
        for result: OneShot<Value>, onCancel cancel: @escaping @Sendable (ConnectionCore) -> Void
    ) async throws(DBusError) -> Value {
        try await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                result.wait(continuation)
                if Task.isCancelled { cancel(core) }
            }
        } onCancel: { [core] in
            core.loop.execute { cancel(core) }
        }.get()
    }

    /// Waits until all that was sent is with the bus: whoever sends much holds back by this.
    ///
    /// - Throws: ``DBusError`` with ``DBusError/Code/disconnected``, ``DBusError/Code/closed`` or
    ///   ``DBusError/Code/cancelled``.
    public func flush() async throws(DBusError) {
        let flusher = OneShot<Void>()
        core.flush(flusher)
        try await wait(for: flusher) {
            $0.finishFlushing(flusher, DBusError(.cancelled, activity: "sending"))
        }
    }

    // MARK: Ending

    /// Calls `handler` on the loop's thread when the connection ends, at once where it has: with the error where the bus
    /// went away, with nil where it was closed.
    public func onEnd(_ handler: @escaping @Sendable (DBusError?) -> Void) { core.onEnd(handler) }

    /// Closes the connection and ends all that waits. Closing twice is allowed.
    ///
    /// What the bus has not taken by then is not sent: see ``flush()``.
    public func close() { core.close() }
}
