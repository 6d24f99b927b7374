internal import LineProtocol

/// A daemon's response to a request: a JSON object on one line. Unknown members are ignored.
struct DaemonResponse {
    /// The largest size of a line in bytes. A daemon with 10,000 devices needs about two million.
    static let limit = 16 << 20

    private let bytes: [UInt8]
    private let object: JSONObject

    /// Reads a line. Returns nil if it is not a JSON object.
    init?(_ line: [UInt8]) {
        guard let object = try? JSONObject(line, limit: Self.limit) else { return nil }
        bytes = line
        self.object = object
    }

    /// The number of the request; nil for an event.
    var id: Int? { word("id").flatMap { Int($0) } }

    /// Returns the string member `name`; nil if there is none.
    func text(_ name: String) -> String? {
        guard let value = value(name), object.isString(value) else { return nil }
        return try? object.string(value)
    }

    /// Whether the member `name` is `true`.
    func flag(_ name: String) -> Bool { word(name) == "true" }

    /// Returns the object member `name`; nil if there is none.
    func member(_ name: String) -> DaemonResponse? { value(name).flatMap { DaemonResponse(Array(bytes[$0])) } }

    /// Returns the objects in the array member `name`; none if there is no such array.
    func members(_ name: String) -> [DaemonResponse] {
        guard let array = value(name), bytes[array.lowerBound] == UInt8(ascii: "[") else { return [] }
        var (members, depth, start): ([DaemonResponse], Int, Int) = ([], 0, array.lowerBound)
        var index = array.lowerBound + 1
        while index < array.upperBound - 1 {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index += 1
                while bytes[index] != UInt8(ascii: "\"") { index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1 }
            case UInt8(ascii: "{"):
                if depth == 0 { start = index }
                depth += 1
            case UInt8(ascii: "}"):
                depth -= 1
                if depth == 0, let member = DaemonResponse(Array(bytes[start...index])) { members.append(member) }
            default: break
            }
            index += 1
        }
        return members
    }

    private func value(_ name: String) -> Range<Int>? { object.fields.first { $0.name == name }?.value }

    private func word(_ name: String) -> String? { value(name).map { String(decoding: bytes[$0], as: UTF8.self) } }
}
