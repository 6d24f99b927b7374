internal import CDBus
internal import DescriptorIO

/// The exported objects of a connection. Dispatches calls to them.
final class ObjectTree: @unchecked Sendable {
    // @unchecked: all accesses are on the thread of the connection's loop, as for the core that owns this object.

    private unowned let core: ConnectionCore
    private var objects: [ObjectPath: DBusObject] = [:]
    /// The tasks of calls in progress.
    private var tasks: [UInt64: Task<Void, Never>] = [:]
    private var lastTask: UInt64 = 0

    init(core: ConnectionCore) { self.core = core }

    deinit { cancelTasks() }

    private func cancelTasks() {
        for task in tasks.values { task.cancel() }
        tasks = [:]
    }

    func add(_ object: DBusObject) throws(DBusError) {
        guard core.isOpen else { throw core.endError(activity: "exporting \(object.path)") }
        guard objects[object.path] == nil else {
            throw DBusError(.invalidArgument, message: "the path is in use", activity: "exporting \(object.path)")
        }
        objects[object.path] = object
    }

    func remove(at path: ObjectPath) -> DBusObject? { objects.removeValue(forKey: path) }

    func object(at path: ObjectPath) -> DBusObject? { objects[path] }

    /// Returns the paths of the object managers above a path.
    func managers(of path: ObjectPath) -> [ObjectPath] {
        var managers: [ObjectPath] = []
        var place = path.parent
        while let path = place {
            if objects[path]?.isObjectManager == true { managers.append(path) }
            place = path.parent
        }
        return managers
    }

    /// Returns the objects below a path, sorted by their paths.
    func objects(below path: ObjectPath) -> [DBusObject] {
        objects.values.filter { $0.path != path && $0.path.isWithin(path) }.sorted { $0.path.text < $1.path.text }
    }

    /// Returns the names one level below a path, of objects and of intermediate nodes.
    func children(of path: ObjectPath) -> [String] {
        let prefix = path == .root ? 1 : path.text.utf8.count + 1
        let names = objects(below: path).map { object in
            String(Substring(object.path.text.utf8.dropFirst(prefix).prefix { $0 != UInt8(ascii: "/") }))
        }
        return Set(names).sorted()
    }

    /// Withdraws all objects, and cancels the tasks of their handlers.
    func end() {
        objects = [:]
        cancelTasks()
    }

    // MARK: Answering

    /// Replies to a call, at once or when its handler has finished.
    func answer(_ message: DBusMessage) {
        guard let path = message.path, let member = message.member else { return }
        let ticket = Ticket(message)
        let call = DBusMethodCall(
            sender: message.sender ?? "", path: path, interface: message.interface ?? "", member: member,
            arguments: message.arguments)
        switch CallTarget(of: call, in: self) {
        case .reply(let values): reply(to: ticket, .success(values))
        case .refuse(let error): reply(to: ticket, .failure(error))
        case .carryOut(let work):
            lastTask += 1
            let number = lastTask
            tasks[number] = Task(executorPreference: core.loop) { [weak core, loop = core.loop] in
                let result = await Self.result(of: work)
                // The handler may have ended on another executor.
                loop.execute { [weak core] in core?.objects.finish(number, ticket, result) }
            }
        }
    }

    private static func result(
        of work: @Sendable () async throws -> [DBusValue]
    ) async -> Result<[DBusValue], DBusError> {
        do {
            return .success(try await work())
        } catch let error as DBusError {
            return .failure(error)
        } catch {
            return .failure(DBusError(answering: .failed, "\(error)"))
        }
    }

    /// The parts of a call's message that its reply needs.
    private struct Ticket: Sendable {
        let serial: UInt32
        let sender: String?
        let wantsReply: Bool

        init(_ message: DBusMessage) {
            serial = message.header.serial
            sender = message.sender
            wantsReply = !message.header.wants_no_reply
        }
    }

    /// Replies after a handler has finished; does nothing if the connection has ended since.
    private func finish(_ number: UInt64, _ ticket: Ticket, _ result: Result<[DBusValue], DBusError>) {
        guard tasks.removeValue(forKey: number) != nil else { return }
        reply(to: ticket, result)
    }

    /// Sends the reply, unless the caller wants none. If the values can't be sent, sends an error instead.
    private func reply(to ticket: Ticket, _ result: Result<[DBusValue], DBusError>) {
        guard ticket.wantsReply else { return }
        let activity = "answering a call"
        do throws(DBusError) {
            let values = try result.get()
            let message = cdbus_new_reply(ticket.serial, ticket.sender, nil)
            try core.send(OutgoingMessage(message, values, activity: activity), activity: activity)
        } catch {
            // The text of an error can come from any source, and a D-Bus string can't contain NUL.
            let text = (error.name == nil ? error.description : error.message ?? "").replacingNUL
            let message = cdbus_new_reply(ticket.serial, ticket.sender, (error.name ?? .failed).text)
            // Without memory or a connection no reply can be sent.
            guard let message = try? OutgoingMessage(message, [.string(text)], activity: activity) else { return }
            _ = try? core.send(message, activity: activity)
        }
    }
}

extension String {
    fileprivate var replacingNUL: String {
        utf8.contains(0) ? String(decoding: utf8.map { $0 == 0 ? UInt8(ascii: " ") : $0 }, as: UTF8.self) : self
    }
}
