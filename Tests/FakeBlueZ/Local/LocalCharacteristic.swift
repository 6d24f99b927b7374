internal import DBus

/// A characteristic of an application. Forwards the operations of centrals to the client's object.
@Radio
final class LocalCharacteristic {
    let radio: RadioCharacteristic
    let path: ObjectPath
    private let client: String
    private let connection: DBusConnection
    private unowned let adapter: FakeAdapter
    /// Whether the client hands out sockets for writes and for notifications, instead of method calls and signals.
    private let acquiresWrite: Bool
    private let acquiresNotify: Bool
    private var writeSocket: AcquiredSocket?
    private var isAcquiringWrite = false
    /// The writes that wait for the reply to `AcquireWrite`, in order.
    private var waitingWrites: [CheckedContinuation<Void, Never>] = []
    private var notifySocket: AcquiredSocket?
    private var subscribers: Set<ObjectIdentifier> = []

    init(
        _ attribute: ApplicationObjects.Attribute, descriptors: [ApplicationObjects.Attribute], of client: String,
        on adapter: FakeAdapter, _ connection: DBusConnection
    ) {
        self.client = client
        self.adapter = adapter
        self.connection = connection
        path = attribute.path
        acquiresWrite = attribute.properties["WriteAcquired"] != nil
        acquiresNotify = attribute.properties["NotifyAcquired"] != nil
        radio = RadioCharacteristic(
            attribute.uuid, attribute.flags,
            descriptors: descriptors.map { RadioDescriptor($0.uuid, value: $0.properties["Value"]?.bytes ?? []) })
        radio.needsPairing = attribute.needsPairing
        radio.onRead = { [weak self] request in try await self?.read(request) ?? [] }
        radio.onWrite = { [weak self] bytes, request in try await self?.write(bytes, request) }
        radio.onSubscription = { [weak self] link, isOn in
            if isOn { try await self?.begin(link) } else { await self?.end(link) }
        }
    }

    /// Notifies all subscribers.
    func say(_ bytes: [UInt8]) { radio.notify(bytes) }

    func end() {
        writeSocket?.close()
        notifySocket?.close()
    }

    private func call(_ member: String, _ arguments: [DBusValue] = []) async throws -> [DBusValue] {
        try await connection.call(DBusCall(to: client, path, BlueZName.characteristic, member, arguments))
    }

    private func options(_ link: RadioLink, _ more: [String: DBusValue] = [:]) -> DBusValue {
        var options: [String: DBusValue] = ["mtu": .uint16(UInt16(link.mtu)), "link": .string("LE")]
        if let central = adapter.devices[link.central] { options["device"] = .objectPath(central.path) }
        return .properties(options.merging(more) { $1 })
    }

    private func offset(_ request: RadioCharacteristic.Request) -> [String: DBusValue] {
        request.offset == 0 ? [:] : ["offset": .uint16(UInt16(clamping: request.offset))]
    }

    // MARK: Reading and writing

    private func read(_ request: RadioCharacteristic.Request) async throws -> [UInt8] {
        let reply = try await call("ReadValue", [options(request.link, offset(request))])
        return reply.first?.bytes ?? []
    }

    private func write(_ bytes: [UInt8], _ request: RadioCharacteristic.Request) async throws {
        if acquiresWrite, !request.isLong {
            let socket = try await acquiredWriteSocket(request.link)
            return socket.send(bytes)
        }
        var more = offset(request)
        more["type"] = .string(request.wantsAnswer ? "request" : "command")
        let arguments: [DBusValue] = [.bytes(bytes), options(request.link, more)]
        if request.wantsAnswer {
            _ = try await call("WriteValue", arguments)
        } else {
            try callWithoutReply("WriteValue", arguments)
        }
    }

    /// Calls the client without waiting for a reply, which keeps the order of the arriving writes.
    private func callWithoutReply(_ member: String, _ arguments: [DBusValue]) throws {
        let call = DBusCall(to: client, path, BlueZName.characteristic, member, arguments)
        try connection.assumeIsolated { try $0.callWithoutReply(call) }
    }

    private func acquiredWriteSocket(_ link: RadioLink) async throws -> AcquiredSocket {
        while isAcquiringWrite { await withCheckedContinuation { waitingWrites.append($0) } }
        if let writeSocket { return writeSocket }
        isAcquiringWrite = true
        defer {
            isAcquiringWrite = false
            for write in waitingWrites { write.resume() }
            waitingWrites = []
        }
        let socket = try await acquire("AcquireWrite", link) { [weak self] in self?.writeSocket = nil }
        writeSocket = socket
        return socket
    }

    private func acquire(
        _ member: String, _ link: RadioLink, onEnd: @escaping () -> Void
    ) async throws -> AcquiredSocket {
        guard let theirs = try await call(member, [options(link)]).first?.unixFD else {
            throw BlueZError.attribute(0x0E)
        }
        return try AcquiredSocket(received: theirs, onEnd: onEnd)
    }

    // MARK: Subscribers

    /// Starts notifications for the first subscriber. The client learns the subscriber's device from `AcquireNotify`,
    /// but not from `StartNotify`, and does not learn of further subscribers.
    private func begin(_ link: RadioLink) async throws {
        let isFirst = subscribers.isEmpty
        subscribers.insert(ObjectIdentifier(link))
        guard isFirst else { return }
        do {
            if acquiresNotify {
                let socket = try await acquire("AcquireNotify", link) { [weak self] in self?.notifySocket = nil }
                socket.onPacket = { [weak self, holding = adapter.holding] packet in
                    await holding.hold()
                    self?.say(packet)
                }
                notifySocket = socket
            } else {
                _ = try await call("StartNotify")
            }
        } catch {
            subscribers.remove(ObjectIdentifier(link))
            throw error
        }
    }

    /// Ends notifications after the last subscriber.
    private func end(_ link: RadioLink) async {
        guard subscribers.remove(ObjectIdentifier(link)) != nil, subscribers.isEmpty else { return }
        if let notifySocket {
            notifySocket.close()
        } else {
            _ = try? await call("StopNotify")
        }
    }
}
