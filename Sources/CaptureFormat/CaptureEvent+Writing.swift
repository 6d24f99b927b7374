internal import LineProtocol
internal import StrictJSON

extension CaptureHeader {
    /// The header as a line of a capture, without the line end.
    package var json: String {
        var line = JSONObjectBuilder()
        line.add("pumpctl_capture", .integer(Self.version))
        line.add("program", text: program)
        line.add("family", text: family)
        line.add("started", text: started)
        return line.json
    }
}

extension CaptureEvent {
    /// The event as a line of a capture, without the line end.
    package var json: String {
        var line = JSONObjectBuilder()
        line.add("time_s", word: time.secondsToMicroseconds)
        line.add("link", .integer(link))
        switch content {
        case .opened(let facts): line.add(facts)
        case .sent(let piece): line.add("sent", piece)
        case .received(let piece): line.add("received", piece)
        case .breakSent(let duration):
            line.add("event", text: "break")
            line.add("duration_s", word: duration.secondsToMicroseconds)
        case .ended(let code, let detail):
            line.add("event", text: "ended")
            if let code { line.add("error", text: code) }
            if let detail { line.add("detail", text: detail) }
        }
        return line.json
    }
}

extension Duration {
    /// Seconds with six decimals, rounded down.
    package var secondsToMicroseconds: String {
        let (seconds, attoseconds) = components
        let fraction = String(attoseconds / 1_000_000_000_000)
        return "\(seconds)." + String(repeating: "0", count: 6 - fraction.utf8.count) + fraction
    }
}

extension JSONObjectBuilder {
    fileprivate mutating func add(_ event: String, _ piece: CaptureEvent.Piece) {
        add("event", text: event)
        if let text = String(validating: piece.bytes, as: UTF8.self) {
            add("text", text: text)
        } else {
            add("hex", text: CaptureHex.text(of: piece.bytes))
        }
        if !piece.lines.isEmpty { add("lines", .array(piece.lines.map(JSONValue.text))) }
    }

    fileprivate mutating func add(_ facts: CarrierFacts) {
        add("event", text: "opened")
        add("endpoint", text: facts.endpoint)
        add("name", text: facts.name)
        add("keeps_packet_bounds", .boolean(facts.keepsPacketBounds))
        if let length = facts.maximumWriteLength { add("maximum_write_length", .integer(length)) }
        if let capacity = facts.packetCapacity { add("packet_capacity", .integer(capacity)) }
        if let address = facts.deviceAddress { add("device_address", text: address) }
        add("is_device_address_stable", .boolean(facts.isDeviceAddressStable))
        add("may_have_reset", .boolean(facts.mayHaveReset))
        add("may_be_mid_line", .boolean(facts.mayBeMidLine))
    }
}

/// Bytes that are not text, in two hexadecimal digits each.
enum CaptureHex {
    static func text(of bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Decodes hexadecimal digits; nil if the text contains other characters, or an odd number of digits.
    static func bytes(of text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var high: UInt8?
        for unit in text.utf8 {
            guard let digit = Character(UnicodeScalar(unit)).hexDigitValue else { return nil }
            if let first = high { bytes.append(first << 4 | UInt8(digit)) }
            high = high == nil ? UInt8(digit) : nil
        }
        return high == nil ? bytes : nil
    }
}
