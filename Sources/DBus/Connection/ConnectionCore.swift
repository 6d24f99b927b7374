internal import CDBus
internal import DescriptorIO
internal import Glibc

/// The synchronous part of a connection: sends messages, dispatches received ones, and stores pending calls.
///
/// This class is separate from the actor so that the event loop can call it directly, without a job, when the bus has
/// sent data.
final class ConnectionCore: @unchecked Sendable {
    // @unchecked: all accesses are on the loop's thread. They come from the connection, whose executor is the loop,
    // from jobs on the loop, and from the loop's poll handler.

    private enum State {
        case open(OpaquePointer)
        /// Ended by this error, or by ``close()`` if nil.
        case ended(DBusError?)
    }

    let loop: EventLoop
    /// The unique name of the connection; empty until the bus has assigned one.
    var uniqueName = ""
    private var state: State
    private var token: PollToken?
    private var interest: CShort = 0
    /// Whether ``drain()`` is running: a handler that it calls may send a message, which must not drain again.
    private var isDraining = false
    private let calls: PendingCalls
    private(set) lazy var router = SignalRouter(core: self)
    private(set) lazy var objects = ObjectTree(core: self)
    /// The flushes that wait until all sent messages have been written.
    private var flushers: [OneShot<Void>] = []
    private var endHandlers: [@Sendable (DBusError?) -> Void] = []

    /// Connects. Messages that are sent before authentication has finished are queued. `name` is the bus's name for
    /// errors.
    init(address: String, name: String, loop: EventLoop, clock: some Clock<Duration>) throws(DBusError) {
        var failure = cdbus_error()
        guard let connection = cdbus_open(address, &failure) else {
            let message = withUnsafeBytes(of: &failure.message) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            throw DBusError(
                .noBus, message: message, activity: "connecting to \(name)",
                hint: "check the address of the bus, and that the bus is running")
        }
        self.loop = loop
        state = .open(connection)
        calls = PendingCalls(clock: clock, loop: loop)
        interest = cdbus_interest(connection)
        token = loop.watch(cdbus_descriptor(connection), events: interest, handler: Handler(core: self))
    }

    deinit {
        guard case .open(let connection) = state, let token else { return }
        let abandoned = Abandoned(connection: connection)
        loop.execute { [unowned loop] in
            loop.unwatch(token)
            cdbus_close(abandoned.connection)
        }
    }

    /// Carries the pointer of an abandoned connection to the loop's thread, the only one that may close it.
    private struct Abandoned: @unchecked Sendable {
        // @unchecked: no other code has the pointer.
        let connection: OpaquePointer
    }

    // MARK: Sending

    /// Whether descriptors can be sent. The authentication decides this, before the bus assigns a unique name.
    var passesDescriptors: Bool {
        if case .open(let connection) = state { cdbus_passes_descriptors(connection) } else { false }
    }

    /// The GUID of the bus; empty before authentication has finished, and after the connection has ended.
    var busID: String {
        guard case .open(let connection) = state, let text = cdbus_server_id(connection) else { return "" }
        defer { cdbus_free(text) }
        return String(cString: text)
    }

    /// Sends a message, or queues it behind earlier ones.
    ///
    /// - Returns: The message's serial number.
    @discardableResult
    func send(_ message: OutgoingMessage, activity: String) throws(DBusError) -> UInt32 {
        switch state {
        case .ended(let error):
            throw DBusError(
                error == nil ? .closed : .disconnected, message: error?.message, activity: activity,
                hint: error?.hint)
        case .open(let connection):
            var serial: UInt32 = 0
            guard cdbus_send(connection, message.pointer, &serial) else { throw OutgoingMessage.exhausted(activity) }
            updateInterest()
            return serial
        }
    }

    /// Sends a call. `reply` gets the outcome, in the order in which replies and signals arrive.
    ///
    /// - Returns: The call's serial number.
    @discardableResult
    func call(_ call: DBusCall, timeout: Duration?, reply: OneShot<[DBusValue]>) throws(DBusError) -> UInt32 {
        // Fix the deadline before sending: a test may advance the clock as soon as the callee has received the call.
        let deadline = timeout.map(calls.deadline(after:))
        let serial = try send(call.encoded(), activity: call.activity)
        calls.add(reply, serial: serial, activity: call.activity, deadline: deadline) { [weak self] in self?.expire() }
        return serial
    }

    /// Calls a method of the bus itself, such as `AddMatch`.
    func callBus(
        _ member: String, _ arguments: [DBusValue] = [],
        then handler: @escaping @Sendable (Result<[DBusValue], DBusError>) -> Void
    ) {
        let call = DBusCall(toBus: member, arguments)
        do throws(DBusError) {
            try self.call(call, timeout: DBusConnection.defaultTimeout, reply: OneShot(handler: handler))
        } catch {
            handler(.failure(error))
        }
    }

    /// Ends a pending call with `cancelled`. A late reply is discarded.
    func cancelCall(serial: UInt32) {
        guard let entry = calls.take(serial: serial) else { return }
        entry.reply.finish(.failure(DBusError(.cancelled, activity: entry.activity)))
    }

    private func expire() {
        calls.expire { [weak self] in self?.expire() }
    }

    /// Finishes `flusher` when all sent messages have been written to the bus's socket.
    func flush(_ flusher: OneShot<Void>) {
        switch state {
        case .ended: flusher.finish(.failure(endError(activity: "sending")))
        case .open(let connection):
            if cdbus_has_unsent(connection) { flushers.append(flusher) } else { flusher.finish(.success(())) }
        }
    }

    /// Gives up a flush with an error.
    func finishFlushing(_ flusher: OneShot<Void>, _ error: DBusError) {
        flushers.removeAll { $0 === flusher }
        flusher.finish(.failure(error))
    }

    // MARK: Receiving

    /// Holds the core weakly: an abandoned connection must be closed although the loop still has its handler.
    private final class Handler: PollHandler {
        private weak let core: ConnectionCore?
        init(core: ConnectionCore) { self.core = core }
        func ready(_ events: CShort) { core?.ready(events) }
    }

    private func ready(_ events: CShort) {
        guard case .open(let connection) = state else { return }
        cdbus_handle(connection, events)
        drain()
    }

    /// Dispatches all messages that libdbus has read. poll reports data in the socket, but not messages that libdbus
    /// already has in memory.
    private func drain() {
        guard !isDraining else { return }
        isDraining = true
        while case .open(let connection) = state, cdbus_has_messages(connection) {
            if let message = cdbus_pop(connection) { take(DBusMessage(taking: message)) }
        }
        isDraining = false
        if case .open(let connection) = state, !cdbus_is_connected(connection) { lose() }
        updateInterest()
    }

    private func take(_ message: DBusMessage) {
        switch message.header.type {
        case CInt(CDBUS_RETURN):
            calls.take(serial: message.header.reply_serial)?.reply.finish(.success(message.arguments))
        case CInt(CDBUS_ERROR):
            guard let entry = calls.take(serial: message.header.reply_serial) else { return }
            let name = message.header.error_name.map { DBusErrorName(checked: String(cString: $0)) } ?? .failed
            let error = DBusError(answer: name, message: message.cursor?.string, activity: entry.activity)
            entry.reply.finish(.failure(error))
        case CInt(CDBUS_SIGNAL):
            // libdbus itself makes the signals of this interface, such as `Disconnected`: they do not come from the bus.
            if DBusMessage.isEqual(message.header.interface, BusName.local) { return }
            router.deliver(message)
        default:
            objects.answer(message)
        }
    }

    /// Adjusts the events that the loop waits for, and finishes flushes. Called after each use of libdbus that may have
    /// read or written.
    private func updateInterest() {
        guard case .open(let connection) = state, let token else { return }
        let wanted = cdbus_interest(connection)
        if wanted != interest {
            interest = wanted
            loop.setInterest(token, events: wanted)
        }
        if !isDraining, cdbus_has_messages(connection) {
            // Sending may also have read messages, which poll does not report.
            loop.execute { [weak self] in self?.drain() }
        }
        if !flushers.isEmpty, !cdbus_has_unsent(connection) {
            let flushed = flushers
            flushers = []
            for flusher in flushed { flusher.finish(.success(())) }
        }
    }

    // MARK: Ending

    var isOpen: Bool { if case .open = state { true } else { false } }

    /// Returns the error for an operation on an ended connection.
    func endError(activity: String) -> DBusError {
        if case .ended(var error?) = state {
            error.activity = activity
            return error
        }
        return DBusError(.closed, activity: activity)
    }

    /// Calls `handler` when the connection ends, or at once if it has ended.
    func onEnd(_ handler: @escaping @Sendable (DBusError?) -> Void) {
        if case .ended(let error) = state { handler(error) } else { endHandlers.append(handler) }
    }

    func close() { end(nil) }

    private func lose() {
        end(
            DBusError(
                .disconnected, activity: "listening to the bus", hint: "connect again when the bus is back"))
    }

    /// Ends the connection, its calls, flushes and subscriptions, then calls the handlers of ``onEnd(_:)``. Only the
    /// first call counts.
    private func end(_ error: DBusError?) {
        guard case .open(let connection) = state else { return }
        state = .ended(error)
        if let token { loop.unwatch(token) }
        token = nil
        cdbus_close(connection)
        for entry in calls.takeAll() { entry.reply.finish(.failure(endError(activity: entry.activity))) }
        let waiting = flushers
        flushers = []
        for flusher in waiting { flusher.finish(.failure(endError(activity: "sending"))) }
        router.end(error)
        objects.end()
        let handlers = endHandlers
        endHandlers = []
        for handler in handlers { handler(error) }
    }
}
