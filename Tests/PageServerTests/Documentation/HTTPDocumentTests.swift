import Foundation
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@testable import PageServer

@Suite("The document packaging/schema/http.openapi.json")
struct HTTPDocumentTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: JSONSchema.repository.appending(path: path), encoding: .utf8)
    }

    private static func json(_ path: String) throws -> JSONValue { try JSONValue(parsing: text(path)) }

    private let document: JSONValue
    private let daemon: JSONValue

    init() throws {
        document = try Self.json("packaging/schema/http.openapi.json")
        daemon = try Self.json("packaging/schema/pumpctld.schema.json")
    }

    @Test("The document has the routes of the server with their scopes, and no others")
    func routes() {
        var documented: Set<String> = []
        for (path, item) in document["paths"]?.dictionary ?? [:] {
            for (method, operation) in item.dictionary ?? [:] where method != "parameters" {
                let scopes = operation["security"]?.elements?.flatMap { $0["token"]?.elements ?? [] } ?? []
                documented.insert("\(method.uppercased()) \(path) \(scopes.first?.text ?? "open")")
            }
        }
        #expect(documented == Set(Route.all.map { "\($0.method.rawValue) \($0.path) \($0.scope)" }))
    }

    // MARK: Problems

    /// A status with a problem code.
    private struct Pair: Hashable, CustomStringConvertible {
        let status: Int
        let code: String

        var description: String { "\(status) \(code)" }
    }

    /// The problems in the source of the server.
    private static func problemsInSource() throws -> Set<Pair> {
        let statuses: [String: HTTPResponseStatus] = [
            "badRequest": .badRequest, "unauthorized": .unauthorized, "forbidden": .forbidden, "notFound": .notFound,
            "methodNotAllowed": .methodNotAllowed, "conflict": .conflict, "payloadTooLarge": .payloadTooLarge,
            "unsupportedMediaType": .unsupportedMediaType, "misdirectedRequest": .misdirectedRequest,
            "tooManyRequests": .tooManyRequests, "serviceUnavailable": .serviceUnavailable,
            "gatewayTimeout": .gatewayTimeout,
        ]
        let folder = JSONSchema.repository.appending(path: "Sources/PageServer")
        var pairs: Set<Pair> = []
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where name.hasSuffix(".swift") {
            let source = try text("Sources/PageServer/\(name)")
            // Calls such as `Problem(.conflict, "code"`. A conditional expression as the status has several statuses.
            for problem in source.matches(of: /(?:Problem|self\.init)\(\s*([^,]*\.\w+),\s*"([a-z_]+)"/) {
                for status in problem.1.matches(of: /\.(\w+)/) {
                    let status = try #require(statuses[String(status.1)], "\(status.0) in \(name)")
                    pairs.insert(Pair(status: Int(status.code), code: String(problem.2)))
                }
            }
        }
        return pairs
    }

    /// The problems into which the server turns errors of the daemon.
    private func problemsOfDaemon() -> Set<Pair> {
        // Only `cancel` has this error, and the server sends no `cancel`: it ends a transfer by closing the connection.
        let codes = (daemon["$defs"]?["error"]?["properties"]?["code"]?["enum"]?.elements ?? [])
            .filter { $0.string != "no_such_transfer" }
        let outcomes: [JSONValue?] = [nil, "not_sent", "nothing_changed", "unknown"]
        return Set(
            codes.flatMap { code in
                outcomes.map { outcome in
                    var error: [String: JSONValue] = ["code": code]
                    error["outcome"] = outcome
                    let problem = Problem(daemonError: .object(error))
                    return Pair(status: Int(problem.status.code), code: problem.code)
                }
            })
    }

    @Test("Each status has the problem codes of the source, and no others")
    func problems() throws {
        var documented: Set<Pair> = []
        for response in document["components"]?["responses"]?.dictionary?.values.map({ $0 }) ?? [] {
            let parts = response["content"]?["application/problem+json"]?["schema"]?["allOf"]?.elements ?? []
            let members = parts.last?["properties"]
            let status = try #require(members?["status"]?["const"]?.integer)
            for code in members?["code"]?["enum"]?.elements ?? [] {
                documented.insert(Pair(status: status, code: code.string))
            }
        }
        // No client gets this problem. It stands for the time before the server has first tried to connect to a daemon.
        let real = try Self.problemsInSource().union(problemsOfDaemon())
            .filter { $0.code != Problem.daemonUnknown.code }
        #expect(documented.subtracting(real) == [])
        #expect(real.subtracting(documented) == [])

        let problem = document["components"]?["schemas"]?["Problem"]?["properties"]
        #expect(Set((problem?["code"]?["enum"]?.elements ?? []).map(\.string)) == Set(real.map(\.code)))
        #expect(Set((problem?["status"]?["enum"]?.elements ?? []).compactMap(\.integer)) == Set(real.map(\.status)))
    }

    // MARK: Shapes of the daemon

    /// Returns a schema without descriptions, and with the bare names of the schemas that it refers to.
    private func bare(_ schema: JSONValue) -> JSONValue {
        if let members = schema.dictionary {
            var result: [String: JSONValue] = [:]
            for (name, value) in members where name != "description" || !value.isText { result[name] = bare(value) }
            if let name = members["$ref"]?.text?.split(separator: "/").last {
                return .object(["$ref": .text(name.prefix(1).uppercased() + name.dropFirst())])
            }
            return .object(result)
        }
        return schema.elements.map { .array($0.map(bare)) } ?? schema
    }

    @Test(
        "Objects that the server passes on from the daemon have the daemon's schema",
        arguments: [
            "device", "values", "age", "sensorFaults", "link", "saidEvent", "stateEvent", "linkEvent", "commandEvent",
            "family", "familyCommand", "parameter", "valueType", "stateField", "familyEvent", "familyError",
            "simulatorVerb", "simulatorArgument", "simulatorState",
            "rescueMessage",
        ])
    func shapes(name: String) throws {
        let own = try #require(document["components"]?["schemas"]?[name.prefix(1).uppercased() + name.dropFirst()])
        let daemons = try #require(daemon["$defs"]?[name])
        #expect(bare(own) == bare(daemons))
    }

    @Test("The devices of a list and of a snapshot have the members of a device, and a state")
    func devices() throws {
        let schemas = try #require(document["components"]?["schemas"])
        let device = Set((schemas["Device"]?["properties"]?.dictionary ?? [:]).keys)
        let listed = schemas["DeviceWithState"]?["properties"]?.dictionary ?? [:]
        #expect(Set(listed.keys) == device.union(["state"]))
        let shown = schemas["Snapshot"]?["properties"]?["devices"]?["items"]?["properties"]?.dictionary ?? [:]
        #expect(Set(shown.keys) == device.union(["state"]))
        let state = Set((schemas["State"]?["properties"]?.dictionary ?? [:]).keys)
        let event = Set((schemas["StateEvent"]?["properties"]?.dictionary ?? [:]).keys)
        #expect(state == event.subtracting(["event", "time", "device"]))
    }

    // MARK: The page

    @Test("docs/http.md shows the example program, and lists every problem code")
    func page() throws {
        let page = try Self.text("docs/http.md")
        let programs = page.components(separatedBy: "```python\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
        #expect(programs == [try Self.text("Examples/http_client.py")])
        let codes = document["components"]?["schemas"]?["Problem"]?["properties"]?["code"]?["enum"]?.elements ?? []
        #expect(codes.count > 20)
        for code in codes { #expect(page.contains("`\(code.string)`"), "\(code.string)") }
        for route in Route.all { #expect(page.contains("`\(route.method.rawValue) \(route.path)`"), "\(route.path)") }
    }
}
