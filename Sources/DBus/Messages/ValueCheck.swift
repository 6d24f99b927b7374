internal import CDBus

/// Validates values before they are sent: the bus disconnects a client that sends a message that violates the
/// specification.
struct ValueCheck {
    /// The largest size of a message's contents in bytes: 32 MiB, the limit of Debian's system bus.
    static let sizeLimit = 32 << 20
    /// The largest number of levels of values inside one another. libdbus has the same limit for containers:
    /// `DBUS_MAXIMUM_TYPE_RECURSION_DEPTH`.
    private static let depthLimit = 32

    private let activity: String
    /// An upper bound of the size of the values checked so far, in bytes.
    private var size = 0

    private init(activity: String) { self.activity = activity }

    /// Validates the arguments of a message.
    ///
    /// - Throws: ``DBusError`` with ``DBusError/Code/invalidArgument``.
    static func check(_ values: [DBusValue], activity: String) throws(DBusError) {
        var check = ValueCheck(activity: activity)
        for value in values { try check.checkComplete(value, depth: 0) }
        guard check.size <= sizeLimit else { throw check.failure("the message is larger than \(sizeLimit >> 20) MiB") }
    }

    private func failure(_ message: String) -> DBusError {
        DBusError(.invalidArgument, message: message, activity: activity)
    }

    /// Checks a value with a signature of its own: an argument, or the content of a variant.
    private mutating func checkComplete(_ value: DBusValue, depth: Int) throws(DBusError) {
        switch value {
        case .array, .structure, .dictionary:
            let signature = value.signature.text
            guard cdbus_is_signature(signature) else { throw failure("invalid signature \(signature)") }
        default: break
        }
        try check(value, depth: depth)
    }

    private mutating func check(_ value: DBusValue, depth: Int) throws(DBusError) {
        guard depth < Self.depthLimit else { throw failure("nested deeper than \(Self.depthLimit) levels") }
        // 16 is an upper bound of a value's fixed-size part with its padding.
        size += 16
        switch value {
        case .string(let text):
            guard !text.utf8.contains(0) else { throw failure("a string contains a NUL character") }
            size += text.utf8.count
        case .objectPath(let path): size += path.text.utf8.count
        case .signature(let signature): size += signature.text.utf8.count
        case .bytes(let bytes): size += bytes.count
        case .variant(let content): try checkComplete(content, depth: depth + 1)
        case .structure(let fields):
            for field in fields { try check(field, depth: depth + 1) }
        case .array(let element, let elements):
            try checkSingle(element)
            for value in elements { try check(value, is: element, depth: depth + 1) }
        case .dictionary(let dictionary):
            try checkSingle(dictionary.keys)
            try checkSingle(dictionary.values)
            for entry in dictionary.entries {
                try check(entry.key, is: dictionary.keys, depth: depth + 1)
                try check(entry.value, is: dictionary.values, depth: depth + 1)
            }
        case .unixFD(let descriptor):
            guard descriptor.number >= 0 else { throw failure("the descriptor is not open") }
        default: break
        }
    }

    private mutating func check(_ value: DBusValue, is signature: DBusSignature, depth: Int) throws(DBusError) {
        guard value.signature == signature else {
            throw failure("expected a value of type \(signature), not \(value.signature)")
        }
        try check(value, depth: depth)
    }

    private func checkSingle(_ signature: DBusSignature) throws(DBusError) {
        guard signature.text.utf8.count == 1 || signature.parts.count == 1 else {
            throw failure("expected a single type, not \(signature)")
        }
    }
}
