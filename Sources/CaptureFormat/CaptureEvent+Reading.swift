internal import StrictJSON

extension CaptureHeader {
    /// The content of a file's first line.
    enum FirstLine {
        case header(CaptureHeader)
        /// The header of a version that this program does not know.
        case newer(version: Int, program: String?)
        /// No header: the file is not a capture.
        case foreign
    }

    static func read(_ line: [UInt8]) -> FirstLine {
        guard let object = try? JSONValue(captured: line), let version = object["pumpctl_capture"]?.integer,
            version >= 1
        else { return .foreign }
        let program = object["program"]?.text
        if version > Self.version { return .newer(version: version, program: program) }
        return .header(
            CaptureHeader(
                program: program ?? "?", family: object["family"]?.text ?? "?", started: object["started"]?.text ?? ""))
    }
}

extension CaptureEvent {
    /// The error of a line that is not an event.
    struct Fault: Error {
        /// The reason, such as `'link' must be an integer above 0`.
        var reason: String
    }

    /// Parses a line; nil for an event of an unknown kind. Unknown members are ignored.
    static func read(_ line: [UInt8]) throws(Fault) -> CaptureEvent? {
        let object: JSONValue
        do throws(JSONError) { object = try JSONValue(captured: line) } catch { throw Fault(reason: "\(error)") }
        guard object.isObject else { throw Fault(reason: "an event must be a JSON object") }
        guard let time = object.duration("time_s") else {
            throw Fault(reason: "'time_s' must be a number from 0 to 3,000,000,000")
        }
        guard let link = object["link"]?.integer, link > 0 else {
            throw Fault(reason: "'link' must be an integer above 0")
        }
        guard let content = try content(object) else { return nil }
        return CaptureEvent(at: time, link: link, content)
    }

    private static func content(_ object: JSONValue) throws(Fault) -> Content? {
        switch object["event"]?.text {
        case "opened": return .opened(CarrierFacts(object))
        case "sent": return .sent(try piece(object))
        case "received": return .received(try piece(object))
        case "break": return .breakSent(object.duration("duration_s") ?? .zero)
        case "ended": return .ended(code: object["error"]?.text, detail: object["detail"]?.text)
        case nil: throw Fault(reason: "'event' must be a string")
        default: return nil
        }
    }

    private static func piece(_ object: JSONValue) throws(Fault) -> Piece {
        let lines = object["lines"]?.elements?.compactMap(\.text) ?? []
        if let text = object["text"]?.text { return Piece(Array(text.utf8), lines: lines) }
        guard let bytes = object["hex"]?.text.flatMap(CaptureHex.bytes) else {
            throw Fault(reason: "'text' or 'hex' must hold the bytes")
        }
        return Piece(bytes, lines: lines)
    }
}

extension CarrierFacts {
    fileprivate init(_ object: JSONValue) {
        self.init(endpoint: object["endpoint"]?.text ?? "?", name: object["name"]?.text ?? "?")
        keepsPacketBounds = object["keeps_packet_bounds"]?.boolean ?? false
        maximumWriteLength = object["maximum_write_length"]?.integer.flatMap { $0 > 0 ? $0 : nil }
        packetCapacity = object["packet_capacity"]?.integer.flatMap { $0 > 0 ? $0 : nil }
        deviceAddress = object["device_address"]?.text
        isDeviceAddressStable = object["is_device_address_stable"]?.boolean ?? true
        mayHaveReset = object["may_have_reset"]?.boolean ?? false
        mayBeMidLine = object["may_be_mid_line"]?.boolean ?? false
    }
}

extension JSONValue {
    /// Parses a line of a capture, of any length: ``CaptureReader`` limits the length.
    init(captured line: [UInt8]) throws(JSONError) { try self.init(line, size: .max) }

    /// Returns the duration of a member in seconds, rounded to the microsecond; nil if the member is not a number, is
    /// negative, or is above 3,000,000,000 (about 95 years). No capture lasts that long, and a Double holds the
    /// microseconds of each smaller number exactly.
    fileprivate func duration(_ name: String) -> Duration? {
        guard let seconds = self[name]?.number, (0...3e9).contains(seconds) else { return nil }
        return .microseconds(Int64((seconds * 1e6).rounded()))
    }
}
