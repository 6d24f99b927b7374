internal import ControlProtocol

extension CaptureHeader {
    /// The content of a file's first line.
    enum FirstLine {
        case header(CaptureHeader)
        /// The header of a version that this program does not know.
        case newer(version: Int, program: String?)
        case foreign
    }

    static func read(_ line: [UInt8]) -> FirstLine {
        guard let value = try? JSONReader.value(of: line), case .object(let members) = value,
            let version = members.integer("pumpctl_capture"), version >= 1
        else { return .foreign }
        let program = members.text("program")
        if version > Self.version { return .newer(version: version, program: program) }
        return .header(
            CaptureHeader(
                program: program ?? "?", family: members.text("family") ?? "?", started: members.text("started") ?? ""))
    }
}

extension CaptureEvent {
    /// The error of a line that is not an event.
    struct Fault: Error {
        /// The reason, such as `'time_s' must be a number`.
        var reason: String
    }

    /// Parses a line; nil for an event of an unknown kind. Unknown members are ignored.
    static func read(_ line: [UInt8]) throws(Fault) -> CaptureEvent? {
        let value: JSONValue
        do throws(JSONReader.Failure) { value = try JSONReader.value(of: line) } catch {
            throw Fault(reason: "\(error)")
        }
        guard case .object(let members) = value else { throw Fault(reason: "an event must be a JSON object") }
        guard let time = members.duration("time_s") else { throw Fault(reason: "'time_s' must be a number") }
        guard let link = members.integer("link"), link > 0 else {
            throw Fault(reason: "'link' must be an integer above 0")
        }
        guard let content = try content(members) else { return nil }
        return CaptureEvent(at: time, link: link, content)
    }

    private static func content(_ members: [String: JSONValue]) throws(Fault) -> Content? {
        switch members.text("event") {
        case "opened": return .opened(CarrierFacts(members))
        case "sent": return .sent(try piece(members))
        case "received": return .received(try piece(members))
        case "break": return .breakSent(members.duration("duration_s") ?? .zero)
        case "ended": return .ended(code: members.text("error"), detail: members.text("detail"))
        case nil: throw Fault(reason: "'event' must be a string")
        default: return nil
        }
    }

    private static func piece(_ members: [String: JSONValue]) throws(Fault) -> Piece {
        var lines: [String] = []
        if case .array(let values) = members["lines"] {
            for case .text(let line) in values { lines.append(line) }
        }
        if let text = members.text("text") { return Piece(Array(text.utf8), lines: lines) }
        guard let bytes = members.text("hex").flatMap(CaptureHex.bytes) else {
            throw Fault(reason: "'text' or 'hex' must hold the bytes")
        }
        return Piece(bytes, lines: lines)
    }
}

extension CarrierFacts {
    fileprivate init(_ members: [String: JSONValue]) {
        self.init(endpoint: members.text("endpoint") ?? "?", name: members.text("name") ?? "?")
        keepsPacketBounds = members.boolean("keeps_packet_bounds") ?? false
        maximumWriteLength = members.integer("maximum_write_length").flatMap { $0 > 0 ? $0 : nil }
        packetCapacity = members.integer("packet_capacity").flatMap { $0 > 0 ? $0 : nil }
        deviceAddress = members.text("device_address")
        isDeviceAddressStable = members.boolean("is_device_address_stable") ?? true
        mayHaveReset = members.boolean("may_have_reset") ?? false
        mayBeMidLine = members.boolean("may_be_mid_line") ?? false
    }
}

extension [String: JSONValue] {
    fileprivate func text(_ name: String) -> String? {
        if case .text(let text) = self[name] { text } else { nil }
    }

    fileprivate func integer(_ name: String) -> Int? {
        if case .integer(let number) = self[name] { number } else { nil }
    }

    fileprivate func boolean(_ name: String) -> Bool? {
        if case .boolean(let value) = self[name] { value } else { nil }
    }

    /// Returns the duration of a member in seconds, rounded to the microsecond; nil if the member is not a number, is
    /// negative, or is above 3,000,000,000 (about 95 years).
    fileprivate func duration(_ name: String) -> Duration? {
        let seconds: Double
        switch self[name] {
        case .integer(let number): seconds = Double(number)
        case .number(let number): seconds = number
        default: return nil
        }
        guard (0...3e9).contains(seconds) else { return nil }
        return .microseconds(Int64((seconds * 1e6).rounded()))
    }
}
