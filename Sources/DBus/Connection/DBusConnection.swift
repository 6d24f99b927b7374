public import DescriptorIO

/// A connection to a message bus, which runs on one event loop.
///
/// ```swift
/// let bus = try await DBusConnection.open(.system)
/// let reply = try await bus.call(
///     DBusCall(
///         to: "org.freedesktop.hostname1", "/org/freedesktop/hostname1", "org.freedesktop.DBus.Properties", "Get",
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
/// The bus delivers replies and signals in one order. Handlers, of ``handleSignals(matching:_:onEnd:)`` and of
/// ``call(_:timeout:then:)``, are called in exactly this order, on the loop's thread. Use handlers for state that a
/// reply initializes and signals update. A task that awaits ``call(_:timeout:)``, or iterates ``DBusSignals``, gets its
/// own messages in order, but runs a little later: handlers may already have been called with later messages.
///
/// ## The end
///
/// If the bus goes away, all pending calls, flushes and subscriptions end with the error
/// ``DBusError/Code/disconnected``; names and exported objects are lost. ``close()`` ends pending calls and flushes
/// with ``DBusError/Code/closed``, and ``DBusSignals`` without an error. An ended connection can't be reopened: open
/// another.
public actor DBusConnection {
    /// The default time-out of a call: 25 s, as in libdbus.
    public static let defaultTimeout: Duration = .seconds(25)

    /// The executor of the actor: the ``loop``.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { core.loop.asUnownedSerialExecutor() }
    /// The event loop that runs the connection.
    public nonisolated var loop: EventLoop { core.loop }

    nonisolated let core: ConnectionCore

    private init(_ core: ConnectionCore) { self.core = core }

    /// Connects to a bus and waits for the connection's ``uniqueName``.
    ///
    /// - Parameters:
    ///   - bus: The bus.
    ///   - loop: The event loop that runs the connection and its handlers.
    ///   - clock: The clock for time-outs; nil for the loop's own.
    ///   - timeout: The longest time to wait for the bus to admit this user.
    /// - Throws: ``DBusError``, for example with ``DBusError/Code/noBus``, ``DBusError/Code/refused``,
    ///   ``DBusError/Code/timedOut`` or ``DBusError/Code/cancelled``.
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

    /// Opens the connection on the loop's thread: only this thread may use a connection of libdbus, from the first call
    /// on.
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

    /// The unique name that the bus has assigned to the connection, such as `:1.42`.
    public var uniqueName: String { core.uniqueName }

    /// The GUID of the bus, 32 hexadecimal digits, which no other bus has, not even on another computer; empty after
    /// the connection has ended.
    public var busID: String { core.busID }

    /// Whether file descriptors can be sent over the bus.
    public var passesDescriptors: Bool { core.passesDescriptors }

    /// Whether the connection has not ended.
    public var isOpen: Bool { core.isOpen }

    // MARK: Calling

    /// Calls a method and returns the values of its reply.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - timeout: The longest time to wait for the reply; nil for no limit.
    /// - Returns: The values of the reply, in order.
    /// - Throws: ``DBusError`` with ``DBusError/Code/refused`` and the name of the error reply; with
    ///   ``DBusError/Code/timedOut``, ``DBusError/Code/cancelled``, ``DBusError/Code/disconnected`` or
    ///   ``DBusError/Code/closed``, after which the call may have been carried out; with
    ///   ``DBusError/Code/invalidArgument`` or ``DBusError/Code/system`` if the call can't be sent.
    @discardableResult
    public func call(
        _ call: DBusCall, timeout: Duration? = defaultTimeout
    ) async throws(DBusError) -> [DBusValue] {
        let reply = OneShot<[DBusValue]>()
        let serial = try core.call(call, timeout: timeout, reply: reply)
        return try await wait(for: reply) { $0.cancelCall(serial: serial) }
    }

    /// Calls a method and passes its reply to a handler.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - timeout: The longest time to wait for the reply; nil for no limit.
    ///   - handler: Called once with the reply or the error, on the loop's thread, in the order in which all messages
    ///     arrive.
    /// - Throws: ``DBusError`` if the call can't be sent; the handler is then not called.
    public func call(
        _ call: DBusCall, timeout: Duration? = defaultTimeout,
        then handler: @escaping @Sendable (Result<[DBusValue], DBusError>) -> Void
    ) throws(DBusError) {
        try core.call(call, timeout: timeout, reply: OneShot(handler: handler))
    }

    /// Calls a method without requesting a reply. Errors of the method are not reported.
    ///
    /// - Parameter call: The call.
    /// - Throws: ``DBusError`` if the call can't be sent.
    public func callWithoutReply(_ call: DBusCall) throws(DBusError) {
        try core.send(call.encoded(wantsNoReply: true), activity: call.activity)
    }

    /// Waits for the result of an operation that has begun. If the task is cancelled, `cancel` is called on the loop's
    /// thread, and must finish `result`, unless `result` has finished.
    ///
    /// If the task was cancelled before, `cancel` is called twice: at once, and by the cancellation handler, which runs it
    /// only after the loop's current job.
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

    /// Waits until all sent messages have been written to the bus's socket. A program that sends a lot calls this
    /// regularly, so that its messages don't accumulate in memory.
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

    /// Calls `handler` on the loop's thread when the connection ends, or at once if it has ended.
    ///
    /// - Parameter handler: Gets the error if the bus went away, and nil if ``close()`` ended the connection.
    public func onEnd(_ handler: @escaping @Sendable (DBusError?) -> Void) { core.onEnd(handler) }

    /// Closes the connection and ends all pending operations. Closing twice is allowed.
    ///
    /// Messages that have not been written to the bus's socket yet are lost: see ``flush()``.
    public func close() { core.close() }
}
