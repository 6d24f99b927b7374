internal import NIOHTTP1
internal import StrictJSON

/// A response of known length.
struct Reply: Sendable {
    var status: HTTPResponseStatus
    var type: String?
    var body: [UInt8]
    var headers: [(String, String)] = []

    init(_ status: HTTPResponseStatus = .ok, type: String?, _ body: [UInt8]) {
        (self.status, self.type, self.body) = (status, type, body)
    }

    init(_ status: HTTPResponseStatus = .ok, json: [String: JSONValue]) {
        self.init(status, type: "application/json", Array(JSONValue.object(json).bytes) + [0x0A])
    }

    init(_ problem: Problem) {
        self.init(problem.status, type: "application/problem+json", Array(problem.json.bytes) + [0x0A])
        if problem.status == .unauthorized { headers.append(("WWW-Authenticate", "Bearer")) }
        if !problem.methods.isEmpty {
            headers.append(("Allow", problem.methods.map(\.rawValue).joined(separator: ", ")))
        }
    }

    /// The headers of every response, unless ``headers`` replaces one: a browser keeps nothing, shows nothing of other
    /// sites, and lets no other site show or read this one.
    static let commonHeaders: [(String, String)] = [
        ("Cache-Control", "no-store"),
        (
            "Content-Security-Policy",
            "default-src 'none'; connect-src 'self'; img-src 'self' blob:; manifest-src 'self'; script-src 'self'; "
                + "style-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                + "require-trusted-types-for 'script'"
        ),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
    ]

    /// The head of the response.
    ///
    /// - Parameter closes: Whether the connection ends with the response.
    func head(closes: Bool) -> HTTPResponseHead {
        var all = HTTPHeaders(Self.commonHeaders)
        for (name, value) in headers { all.replaceOrAdd(name: name, value: value) }
        if let type { all.add(name: "Content-Type", value: type) }
        all.add(name: "Content-Length", value: "\(body.count)")
        if closes { all.add(name: "Connection", value: "close") }
        return HTTPResponseHead(version: .http1_1, status: status, headers: all)
    }
}
