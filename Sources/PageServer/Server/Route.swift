internal import NIOHTTP1

/// The permission that a request needs.
enum Scope: String, CaseIterable, Comparable {
    /// None: the page's own files, the description of the interface, and logging in.
    case open
    /// Reading, such as the state of devices, and logging out.
    case see
    /// Changing and testing devices, and offering a peer.
    case command

    static func < (left: Scope, right: Scope) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .open: 0
        case .see: 1
        case .command: 2
        }
    }
}

/// An operation of the interface.
enum Operation {
    case page, file, openAPI, logIn, session, logOut
    case devices, device, families, events
    case history, messages, findings, log, image, captures, capture
    case command, stop
    case simulator, simulate
    case verify, latency
    case peer, say
}

/// A row of the table of all routes. A request that no row describes is not found, so no route lacks a scope.
struct Route {
    let method: HTTPMethod
    /// The path by its segments; one in braces stands for any name.
    let path: String
    let scope: Scope
    let operation: Operation

    init(_ method: HTTPMethod, _ path: String, _ scope: Scope, _ operation: Operation) {
        (self.method, self.path, self.scope, self.operation) = (method, path, scope, operation)
    }

    static let all = [
        Route(.GET, "/", .open, .page),
        Route(.GET, "/page/{version}/{file}", .open, .file),
        Route(.GET, "/api/v1/openapi.json", .open, .openAPI),
        Route(.POST, "/api/v1/session", .open, .logIn),
        Route(.GET, "/api/v1/session", .see, .session),
        Route(.DELETE, "/api/v1/session", .see, .logOut),
        Route(.GET, "/api/v1/devices", .see, .devices),
        Route(.GET, "/api/v1/devices/{device}", .see, .device),
        Route(.GET, "/api/v1/devices/{device}/history", .see, .history),
        Route(.GET, "/api/v1/devices/{device}/log", .see, .log),
        Route(.GET, "/api/v1/devices/{device}/image", .see, .image),
        Route(.GET, "/api/v1/devices/{device}/simulator", .see, .simulator),
        Route(.GET, "/api/v1/messages", .see, .messages),
        Route(.GET, "/api/v1/findings", .see, .findings),
        Route(.GET, "/api/v1/captures", .see, .captures),
        Route(.GET, "/api/v1/captures/{capture}", .see, .capture),
        Route(.GET, "/api/v1/families", .see, .families),
        Route(.GET, "/api/v1/events", .see, .events),
        Route(.POST, "/api/v1/devices/{device}/commands", .command, .command),
        Route(.POST, "/api/v1/devices/{device}/stop", .command, .stop),
        Route(.POST, "/api/v1/devices/{device}/simulator", .command, .simulate),
        Route(.POST, "/api/v1/devices/{device}/verify", .command, .verify),
        Route(.POST, "/api/v1/devices/{device}/latency", .command, .latency),
        Route(.POST, "/api/v1/peer", .command, .peer),
        Route(.POST, "/api/v1/peer/say", .command, .say),
    ]

    /// The result of looking up a request.
    enum Match {
        case found(Route, name: String)
        /// The path exists with these other methods.
        case otherMethod([HTTPMethod])
        case none
    }

    /// Looks up a method and the segments of a path.
    static func match(_ method: HTTPMethod, _ segments: [String]) -> Match {
        var others: [HTTPMethod] = []
        for route in all {
            guard let name = route.name(in: segments) else { continue }
            if route.method == method { return .found(route, name: name) }
            others.append(route.method)
        }
        return others.isEmpty ? .none : .otherMethod(others)
    }

    /// The segments of the path.
    var segments: [Substring] { path.split(separator: "/") }

    /// Returns the last name in a path, empty if the route has none; nil if the path is not of this route.
    private func name(in segments: [String]) -> String? {
        let own = self.segments
        guard own.count == segments.count else { return nil }
        var name = ""
        for (own, segment) in zip(own, segments) {
            if own.hasPrefix("{") { name = segment } else if own != segment { return nil }
        }
        return name
    }
}
