internal import DBus

/// A connection between a central and a device.
@Radio
public final class RadioLink {
    /// The central's address.
    public let central: String
    public let device: RadioDevice
    /// The ATT MTU. A notification or an undivided write holds three bytes less.
    public let mtu: Int
    public private(set) var isUp = true
    private let timeline: Timeline
    private var subscriptions: [ObjectIdentifier: RadioCharacteristic] = [:]
    /// The cancellations of the pending operations, by number.
    private var operations: [Int: @Sendable () -> Void] = [:]
    private var lastOperation = 0
    /// Called with each notification to the central.
    var onArrival: ((RadioCharacteristic, [UInt8]) -> Void)?
    /// Called when the device's services change.
    var onServiceChange: (() -> Void)?
    private var dropHandlers: [() -> Void] = []

    /// The largest size in bytes of a packet's payload.
    public var payload: Int { mtu - 3 }

    init(from central: String, to device: RadioDevice, timeline: Timeline) {
        self.central = central
        self.device = device
        self.timeline = timeline
        mtu = device.manners.mtu
        subscriptions = device.rememberedSubscriptions.removeValue(forKey: central) ?? [:]
        device.add(self)
    }

    /// Calls `handler` when the connection ends.
    func onDrop(_ handler: @escaping () -> Void) { dropHandlers.append(handler) }

    /// Ends the connection and all its pending operations.
    public func drop() {
        guard isUp else { return }
        isUp = false
        device.remove(self)
        for cancel in operations.values { cancel() }
        operations = [:]
        forgetSubscriptions()
        let handlers = dropHandlers
        dropHandlers = []
        for handler in handlers { handler() }
    }

    private func forgetSubscriptions() {
        if device.manners.remembersSubscriptions {
            device.rememberedSubscriptions[central] = subscriptions
        } else {
            let ended = subscriptions.values
            Radio.begin {
                for characteristic in ended { try? await characteristic.onSubscription?(self, false) }
            }
        }
        subscriptions = [:]
    }

    // MARK: From the device

    func isSubscribed(to characteristic: RadioCharacteristic) -> Bool {
        subscriptions[ObjectIdentifier(characteristic)] != nil
    }

    /// Notifies the central, which gets at most the first ``payload`` bytes.
    func deliver(_ bytes: [UInt8], from characteristic: RadioCharacteristic) {
        onArrival?(characteristic, bytes.count > payload ? Array(bytes[..<payload]) : bytes)
    }

    // MARK: From the central

    func subscribe(to characteristic: RadioCharacteristic) async throws {
        try await perform(.zero) { [self] in
            let key = ObjectIdentifier(characteristic)
            if subscriptions.updateValue(characteristic, forKey: key) == nil {
                do {
                    try await characteristic.onSubscription?(self, true)
                } catch {
                    subscriptions[key] = nil
                    throw error
                }
            }
            try await timeline.pause(device.manners.subscribeDelay)
        }
    }

    func unsubscribe(from characteristic: RadioCharacteristic) async {
        guard subscriptions.removeValue(forKey: ObjectIdentifier(characteristic)) != nil else { return }
        try? await characteristic.onSubscription?(self, false)
    }

    func read(_ characteristic: RadioCharacteristic, offset: Int) async throws -> [UInt8] {
        try await perform(device.manners.readDelay) { [self] in
            guard let read = characteristic.onRead else {
                // 0x07 is "invalid offset".
                guard offset <= characteristic.value.count else { throw BlueZError.attribute(0x07) }
                return Array(characteristic.value[offset...])
            }
            return try await read(RadioCharacteristic.Request(link: self, offset: offset))
        }
    }

    func read(_ descriptor: RadioDescriptor) async throws -> [UInt8] {
        if let error = device.manners.descriptorError { throw error }
        return try await perform(device.manners.readDelay) { descriptor.value }
    }

    /// Writes with response, in several parts if the value does not fit into one.
    func request(_ bytes: [UInt8], to characteristic: RadioCharacteristic, offset: Int) async throws {
        try await perform(device.manners.writeDelay) { [self] in
            let request = RadioCharacteristic.Request(link: self, offset: offset, isLong: bytes.count > payload)
            try await carryOut(bytes, to: characteristic, request)
        }
    }

    /// Writes without response.
    func command(_ bytes: [UInt8], to characteristic: RadioCharacteristic) async throws {
        let request = RadioCharacteristic.Request(link: self, wantsAnswer: false)
        try await carryOut(bytes, to: characteristic, request)
    }

    private func carryOut(
        _ bytes: [UInt8], to characteristic: RadioCharacteristic, _ request: RadioCharacteristic.Request
    ) async throws {
        if let left = device.manners.writesUntilLoss {
            device.manners.writesUntilLoss = left > 0 ? left - 1 : nil
            guard left > 0 else {
                drop()
                throw CancellationError()
            }
        }
        if let write = characteristic.onWrite {
            try await write(bytes, request)
        } else {
            characteristic.value = Array(characteristic.value.prefix(request.offset)) + bytes
        }
    }

    /// Runs `body` after `delay`. The end of the connection cancels it, and the operation then fails.
    private func perform<Value: Sendable>(
        _ delay: Duration, _ body: @escaping @Radio () async throws -> Value
    ) async throws -> Value {
        guard isUp else { throw BlueZError.failed("Not connected") }
        lastOperation += 1
        let number = lastOperation
        let task = Radio.begin { [timeline] in
            try await timeline.pause(delay)
            return try await body()
        }
        operations[number] = { task.cancel() }
        defer { operations[number] = nil }
        do {
            let value = try await task.value
            if isUp { return value }
        } catch {
            if isUp { throw error }
        }
        // The link ended before the device replied. bluetoothd 5.66 then reports 0x0E, "unlikely error".
        throw BlueZError.attribute(0x0E)
    }
}
