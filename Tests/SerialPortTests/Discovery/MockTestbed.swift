import Foundation
import TestSupport
import Testing

/// USB serial ports that only libudev sees, for the programs that tests run.
final class MockTestbed {
    /// Whether umockdev's Python bindings are installed.
    static let isAvailable =
        system("/usr/bin/python3 -c 'import gi; gi.require_version(\"UMockdev\", \"1.0\")' 2>/dev/null") == 0
    /// The reason for skipping a test if ``isAvailable`` is false.
    static let needed: Comment = "needs umockdev, gir1.2-umockdev-1.0 and python3-gi"

    /// The environment of a program that sees the devices in `root`.
    private static func environment(_ root: String? = nil) -> [String: String] {
        var variables = ChildProcess.surroundings
        variables["LD_PRELOAD"] = "libumockdev-preload.so.0"
        variables["UMOCKDEV_DIR"] = root
        return variables
    }

    /// A device that can be plugged in.
    struct Adapter: Sendable {
        var vendor: String
        var product: String
        var driver: String
        var manufacturer: String?
        var name: String?
        var serialNumber: String?

        static let ch340 = Adapter(vendor: "1a86", product: "7523", driver: "ch341", name: "USB Serial")

        static func ft232(serialNumber: String) -> Adapter {
            Adapter(
                vendor: "0403", product: "6001", driver: "ftdi_sio", manufacturer: "FTDI", name: "FT232R USB UART",
                serialNumber: serialNumber)
        }
    }

    private let script: ChildProcess
    private let root: String

    init() async throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "testbed.py").path()
        script = try await ChildProcess(["/usr/bin/python3", path], environment: Self.environment())
        root = try await script.output.line()
    }

    /// The script removes its folders at the end of its input.
    deinit {
        let script = script
        Task {
            await script.closeInput()
            try await script.ending()
        }
    }

    /// Plugs a device in.
    ///
    /// - Parameters:
    ///   - path: The physical path.
    ///   - node: The name of its node, such as `ttyUSB0`.
    ///   - terminal: The terminal that the node leads to; nil for none.
    ///   - rule: The scope of a udev rule that keeps ModemManager away: `device` or `port`; nil for no rule.
    func plug(
        _ adapter: Adapter, at path: String, as node: String, interface: Int = 0, terminal: String? = nil,
        rule: String? = nil
    ) async throws {
        var request: [String: Any] = [
            "do": "plug", "node": node, "path": path, "vendor": adapter.vendor, "product": adapter.product,
            "driver": adapter.driver, "interface": interface,
        ]
        request["manufacturer"] = adapter.manufacturer
        request["product_name"] = adapter.name
        request["serial"] = adapter.serialNumber
        request["terminal"] = terminal
        request["rule"] = rule
        #expect(try await ask(request) == "ok")
    }

    func unplug(_ node: String) async throws {
        #expect(try await ask(["do": "unplug", "node": node]) == "ok")
    }

    /// Lets programs that open a port reach the terminal behind its node. Before this call umockdev replies that the
    /// node is not a terminal.
    func letTerminalsAnswer() async throws -> String { try await ask(["do": "answer"]) }

    /// Sends another event for a port, like `udevadm trigger`.
    func tellAgain(of node: String) async throws {
        #expect(try await ask(["do": "change", "node": node]) == "ok")
    }

    /// Adds a device without defaults; returns its path in sysfs.
    @discardableResult
    func add(
        _ subsystem: String, _ name: String, parent: String? = nil, attributes: [String: String] = [:],
        properties: [String: String] = [:]
    ) async throws -> String {
        try await ask([
            "do": "add", "subsystem": subsystem, "name": name, "parent": parent as Any? ?? NSNull(),
            "attributes": attributes, "properties": properties,
        ])
    }

    private func ask(_ request: [String: Any]) async throws -> String {
        let json = try JSONSerialization.data(withJSONObject: request)
        try await script.write(String(decoding: json, as: UTF8.self) + "\n")
        return try await script.output.line()
    }

    /// Starts a program of this package that sees only these devices.
    func start(_ program: String, _ arguments: String...) async throws -> ChildProcess {
        try await start(program, arguments)
    }

    func start(_ program: String, _ arguments: [String]) async throws -> ChildProcess {
        try await ChildProcess([Executable.path(of: program)] + arguments, environment: Self.environment(root))
    }
}
