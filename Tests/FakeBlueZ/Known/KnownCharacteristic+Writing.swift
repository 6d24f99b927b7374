internal import DBus

/// Reading and writing.
extension KnownCharacteristic {
    func read(_ options: ATTOptions) async throws -> [UInt8] {
        let link = try requireLink()
        guard !isReading else { throw BlueZError.inProgress }
        guard radio.flags.contains(.read) else { throw BlueZError.notPermitted("Read not permitted") }
        isReading = true
        defer { isReading = false }
        let bytes = try await link.read(radio, offset: options.offset)
        object.repeatedly(set: "Value", of: BlueZName.characteristic, to: .bytes(bytes))
        return bytes
    }

    /// Writes with or without response, as ``ATTOptions/type`` says; the flags are then not checked. If the type is
    /// nil, writes with response if the flags allow that, else without.
    func write(_ bytes: [UInt8], _ options: ATTOptions) async throws {
        let link = try anyLink()
        if isClaimed { throw BlueZError.notAuthorized }
        if writeSocket != nil { throw BlueZError.notPermitted("Write acquired") }
        guard !isWriting else { throw BlueZError.inProgress }
        let isRequest =
            switch options.type {
            case nil: radio.flags.contains(.write) || radio.flags.contains(.reliableWrite)
            case let type: type != "command"
            }
        if isRequest {
            _ = try requireLink()
            isWriting = true
            defer { isWriting = false }
            return try await link.request(bytes, to: radio, offset: options.offset)
        }
        guard options.type != nil || radio.flags.contains(.writeWithoutResponse) else { throw BlueZError.notSupported }
        guard bytes.count <= link.payload else { throw BlueZError.failed("Failed to initiate write") }
        // A write without response reports no error, not even missing pairing.
        if !lacksPairing { try? await link.command(bytes, to: radio) }
    }

    /// Gives a client a socket for writing. bluetoothd reads at most 512 bytes of a packet (bluez#1466), and drops
    /// packets that don't fit the link.
    func acquireWrite(_ client: String) throws -> [DBusValue] {
        let link = try requireLink()
        if isClaimed { throw BlueZError.notAuthorized }
        if writeSocket != nil { throw BlueZError.notPermitted("Write acquired") }
        guard radio.flags.contains(.writeWithoutResponse) else { throw BlueZError.notSupported }
        let (socket, theirs) = try AcquiredSocket.open { [weak self] in
            self?.writeSocket = nil
            self?.set("WriteAcquired", .boolean(false))
        }
        socket.onPacket = { [radio, weak link] packet in
            guard let link, link.isUp else { return }
            let packet = Array(packet.prefix(512))
            if packet.count <= link.payload { try? await link.command(packet, to: radio) }
        }
        writeSocket = socket
        set("WriteAcquired", .boolean(true))
        return [.unixFD(theirs), .uint16(UInt16(link.mtu))]
    }
}
