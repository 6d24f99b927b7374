import NIOHTTP1
import Testing

@testable import PageServer

@Suite("Targets and routes")
struct RequestTests {
    private func request(_ target: String, _ method: HTTPMethod = .GET) throws(Problem) -> Request {
        try Request(HTTPRequestHead(version: .http1_1, method: method, uri: target))
    }

    @Test("A path is split and then decoded")
    func decoding() throws {
        let request = try request("/api/v1/devices/my%20pump%C3%A9?since=1h&until=a%2Bb+c&flag")
        #expect(request.segments == ["api", "v1", "devices", "my pumpé"])
        #expect(request.query == ["since": "1h", "until": "a+b c", "flag": ""])
        #expect(try self.request("/").segments == [])
    }

    @Test(
        "A path that a file system would treat specially is refused",
        arguments: [
            "/../etc/passwd", "/./x", "//etc/passwd", "/api//v1", "/%2e%2e/etc/passwd", "/%2E./x", "/a/%2e%2e%2fetc",
            "/a%2fb", "/a%5cb", "/a\\..\\b", "/%00", "/a%0d%0aX:1", "/%", "/%4", "/%zz", "/%ff", "/%c0%ae%c0%ae/x",
            "/%u002e", "x", "", "*", "http://localhost/", "/a?x=1&x=2", "/a?%=1", "/a/",
        ])
    func traversal(target: String) {
        #expect(throws: Problem.self) {
            let request = try request(target)
            // A target that is not refused must not match a route.
            guard case .none = Route.match(.GET, request.segments) else { return }
            throw Problem(.notFound, "no_such_path", "")
        }
    }

    @Test("Each route is found by its own path and method only")
    func routes() throws {
        for route in Route.all {
            let path = route.segments.map { $0.hasPrefix("{") ? "pump" : String($0) }
            guard case .found(let found, let name) = Route.match(route.method, path) else {
                Issue.record("\(route.path) was not found")
                continue
            }
            #expect(found.operation == route.operation)
            #expect(name == (route.path.contains("{") ? "pump" : ""))
            guard case .otherMethod(let methods) = Route.match(.PATCH, path) else {
                Issue.record("\(route.path) takes PATCH")
                continue
            }
            #expect(methods.contains(route.method))
            guard case .none = Route.match(route.method, path + ["more", "more"]) else {
                Issue.record("\(route.path) was found by a longer path")
                continue
            }
        }
        #expect(Set(Route.all.map { "\($0.method) \($0.path)" }).count == Route.all.count)
    }

    @Test("Nothing changes by GET, and only the page's files and the log-in need no session")
    func scopes() {
        for route in Route.all {
            #expect(route.method != .GET || route.scope < .command, "\(route.path)")
            #expect(
                route.scope != .open || [.page, .file, .openAPI, .logIn].contains(route.operation), "\(route.path)")
        }
    }

    @Test("Unknown parameters are refused")
    func parameters() throws {
        let request = try request("/api/v1/devices?since=1h&columns=2")
        #expect(throws: Never.self) { try request.checkQuery("since", "columns", "until") }
        let problem = #expect(throws: Problem.self) { try request.checkQuery("since") }
        #expect(problem?.message == "this path has no parameter 'columns'")
    }
}
