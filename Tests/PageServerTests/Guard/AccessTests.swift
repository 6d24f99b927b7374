import DescriptorIO
import NIOHTTP1
import RecordFormat
import StrictJSON
import TestSupport
import Testing

@testable import PageServer

@Suite("Access by HTTP", .timeLimit(.minutes(5)))
struct AccessTests {
    private func path(_ route: Route) -> String { route.path.replacing("{device}", with: "pump") }

    @Test("Each route but the open ones needs a session with its scope")
    func scopes() async throws {
        try await PageBench.run { bench in
            let see = try PageBench.token(bench.folder, mayCommand: false)
            for route in Route.all where route.scope != .open {
                let (method, path) = (route.method.rawValue, path(route))
                for wrong in ["", "x", String(bench.token.dropLast()), bench.token + "0"] {
                    let response = try await bench.ask(method, path, token: wrong)
                    #expect(response.status == 401, "\(path) with '\(wrong)'")
                    #expect(response.head.contains("\r\nWWW-Authenticate: Bearer\r\n"))
                }
                let client = try await bench.client()
                let response = try await client.ask(method, path, token: nil)
                #expect(response.code == "no_token", "\(path)")
                await client.channel.close()
                guard route.scope == .command else { continue }
                #expect(try await bench.ask(method, path, token: see).code == "may_only_look", "\(path)")
            }
            #expect(["stop", "command", "simulate"].allSatisfy { bench.daemon.count($0) == 0 })
        }
    }

    @Test("A code logs in once, and a session can end itself")
    func logIn() async throws {
        try await PageBench.run { bench in
            var file = SessionFile(path: bench.folder.path("sessions"))
            let code = try file.add(isCode: true, mayCommand: false, at: .now)
            let logIn = try await bench.ask("POST", "/api/v1/session", object(["code": .text(code)]), token: "")
            #expect(logIn.status == 201)
            let token = try #require(logIn.json["token"]?.text)
            #expect(try await bench.ask("POST", "/api/v1/session", object(["code": .text(code)])).code == "wrong_token")
            let session = try await bench.ask("GET", "/api/v1/session", token: token)
            #expect(session.json["scope"]?.text == "see")
            #expect(session.json["token"] == nil)
            #expect(try await bench.ask("DELETE", "/api/v1/session", token: token).status == 204)
            #expect(try await bench.ask("GET", "/api/v1/session", token: token).status == 401)
        }
    }

    @Test("A request of another site is refused before anything else")
    func otherSite() async throws {
        try await PageBench.run { bench in
            let client = try await bench.client()
            try await client.send("GET /nowhere HTTP/1.1\r\nHost: evil.example\r\n\r\n")
            let response = try await client.response()
            #expect(response.status == 421)
            #expect(response.head.contains("\r\nX-Frame-Options: DENY\r\n"))
            await client.channel.close()
        }
    }

    @Test("Connections without a valid token do not keep other clients out")
    func strangers() async throws {
        var limits = PageSettings.Limits()
        limits.strangers = 3
        try await PageBench.run(limits: limits) { bench in
            let known = try await bench.client()
            #expect(try await known.ask("GET", "/api/v1/session", token: bench.token).status == 200)
            var strangers: [PageClient] = []
            for _ in 0..<5 {
                let stranger = try await bench.client()
                try await stranger.send("GET / HTTP/1.1\r\nHost:")
                strangers.append(stranger)
            }
            // Two more than the limit: the two oldest are closed.
            for stranger in strangers[..<2] { _ = try await stranger.received.all("the connection") }
            #expect(try await bench.ask("GET", "/api/v1/session").status == 200)
            #expect(try await known.ask("GET", "/api/v1/session", token: bench.token).status == 200)
            for client in strangers + [known] { await client.channel.close() }
        }
    }

    @Test("A long body, a wrong type, and a body of a GET request are refused")
    func bodies() async throws {
        try await PageBench.run { bench in
            // A body of JSON may have 16,384 bytes.
            let long = JSONValue.object(["name": .text(String(repeating: "x", count: 20_000))])
            #expect(try await bench.ask("POST", "/api/v1/devices/pump/commands", long).status == 413)
            #expect(try await bench.ask("GET", "/api/v1/session", object([:])).status == 400)
            let client = try await bench.client()
            try await client.send(
                "POST", "/api/v1/devices/pump/commands", token: bench.token,
                "Content-Type: text/plain\r\nContent-Length: 2\r\n")
            try await client.send("{}")
            #expect(try await client.response().status == 415)
            await client.channel.close()
        }
    }
}
