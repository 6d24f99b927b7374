internal import Glibc
package import RecordFormat
internal import StrictJSON
internal import Synchronization

/// A permission to use the interface: a session, or the one-time code that begins one.
///
/// The token consists of the ID and a secret of 256 bits, as `3fa2c1d0.9be4…`. Only a hash of the secret is stored.
package struct Session: Sendable, Hashable {
    /// Eight hexadecimal digits, which may be shown and logged.
    package let id: String
    /// Whether this is a one-time code.
    package let isCode: Bool
    /// The requests that it permits.
    let scope: Scope
    /// The time at which it began.
    package let began: RecordTime
    /// The time at which it ends.
    package let ends: RecordTime
    /// The hash of the secret, as crypt(3) writes it.
    let hash: String

    /// The name of the scope: `see` or `command`.
    package var scopeName: String { scope.rawValue }

    /// The lifetimes of a session and of a code in seconds.
    static let (lifetime, codeLifetime) = (30.0 * 86_400, 300.0)

    /// Creates a session or a code with a new secret.
    static func new(isCode: Bool, _ scope: Scope, at time: RecordTime) -> (session: Session, token: String) {
        let (id, secret) = (random(digits: 8), random(digits: 64))
        let session = Session(
            id: id, isCode: isCode, scope: scope, began: time,
            ends: RecordTime(secondsSince1970: time.secondsSince1970 + (isCode ? codeLifetime : lifetime)),
            hash: hashed(secret, "$5$rounds=1000$\(random(digits: 16))") ?? "")
        return (session, "\(id).\(secret)")
    }

    private static func random(digits: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        let hexadecimal = Array("0123456789abcdef".utf8)
        return String(decoding: (0..<digits).map { _ in hexadecimal[Int(generator.next() & 15)] }, as: UTF8.self)
    }

    /// Splits a token; nil if it has another form.
    static func parts(of token: String) -> (id: String, secret: String)? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 8, parts[1].utf8.count == 64 else { return nil }
        return (String(parts[0]), String(parts[1]))
    }

    /// Whether the secret is this session's.
    func hasSecret(_ secret: String) -> Bool {
        guard !hash.isEmpty, let other = Self.hashed(secret, hash) else { return false }
        return Self.areEqual(hash, other)
    }

    /// Compares two secrets, or two hashes. The time does not depend on the number of equal bytes.
    static func areEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static let hashing = Mutex(())

    /// Hashes a secret with SHA-256 by crypt(3). The fewest rounds that crypt(3) takes, 1000, suffice, as nobody can
    /// guess 256 random bits.
    private static func hashed(_ secret: String, _ setting: String) -> String? {
        // crypt(3) has one buffer for its result.
        hashing.withLock { _ in
            guard let result = crypt(secret, setting) else { return nil }
            let hash = String(cString: result)
            return hash.hasPrefix("*") ? nil : hash
        }
    }
}

extension Session {
    /// The line of the file of sessions.
    var json: JSONValue {
        .object([
            "id": .text(id), "kind": isCode ? "code" : "session", "scope": .text(scope.rawValue),
            "began": .text(began.iso8601), "ends": .text(ends.iso8601), "hash": .text(hash),
        ])
    }

    /// Reads a line of the file; nil if it is damaged.
    init?(_ json: JSONValue) {
        func time(_ name: String) -> RecordTime? { json[name]?.text.flatMap { RecordTime(typed: $0) } }
        guard let id = json["id"]?.text, let kind = json["kind"]?.text, ["code", "session"].contains(kind),
            let scope = json["scope"]?.text.flatMap(Scope.init), scope != .open, let hash = json["hash"]?.text,
            let began = time("began"), let ends = time("ends")
        else { return nil }
        self.init(id: id, isCode: kind == "code", scope: scope, began: began, ends: ends, hash: hash)
    }
}
