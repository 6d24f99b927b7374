import LineProtocol
import Logging
import Sharing
import TOMLReading

extension DaemonConfiguration {
    /// Parses the text of a configuration file.
    init(toml text: String) throws(ConfigurationError) {
        let file = try TableReader(toml: text)
        try file.allowKeys(["daemon", "device", "http"], called: "table")
        if let table = try file.table("daemon") { daemon = try DaemonSettings(table) }
        if let table = try file.table("http") { http = try HTTPSettings(table) }
        devices = []
        if let tables = try file.table("device", writtenAs: "[device.NAME]") {
            for name in tables.keys {
                guard let table = try tables.table(name) else { continue }
                devices.append(try DeviceEntry(table, name: name).settings(at: table.place))
            }
        }
        guard !devices.isEmpty else {
            throw ConfigurationError(
                .missing, "[device.NAME]", "missing", hint: "add a table, e.g. [device.pump]")
        }
        try check(at: .table("daemon"), http: .table("http"))
    }
}

extension DaemonSettings {
    /// Parses the table `daemon`.
    fileprivate init(_ table: TableReader) throws(ConfigurationError) {
        try table.allowKeys(["socket", "group", "log-level", "insecure-listen"])
        socket = try table.string("socket")
        if let socket { try ShareAddress.checkPath(socket, "socket", at: table.place) }
        group = try table.string("group")
        if let level = try table.string("log-level") { logLevel = try Logger.Level(named: level, at: table.place) }
        allowsInsecureListening = try table.boolean("insecure-listen") ?? false
    }
}

extension HTTPSettings {
    /// Parses the table `http`.
    fileprivate init(_ table: TableReader) throws(ConfigurationError) {
        try table.allowKeys(["listen", "hosts", "captures"])
        guard let address = try table.string("listen") else {
            throw ConfigurationError(
                .missing, table.place.of("listen"), "missing",
                hint: "write a port: \(table.place.example("listen", "8080"))")
        }
        try self.init(
            address, hosts: table.strings("hosts"), captures: table.string("captures"), at: table.place)
    }
}

extension DeviceEntry {
    /// Parses a table `device.NAME`.
    fileprivate init(_ table: TableReader, name: String) throws(ConfigurationError) {
        try table.allowKeys(["endpoint", "family", "pty", "tcp", "unix", "record", "idle"])
        self.init(name: name)
        endpoint = try table.string("endpoint")
        family = try table.string("family")
        terminals = try table.strings("pty")
        tcp = try table.strings("tcp")
        unix = try table.strings("unix")
        isRecorded = try table.boolean("record") ?? false
        idle = try table.string("idle")
    }
}

extension Logger.Level {
    /// Looks up a level by its name.
    fileprivate init(named name: String, at place: ConfigurationPlace) throws(ConfigurationError) {
        guard let level = Logger.Level(rawValue: name) else {
            let names = Self.allCases.map(\.rawValue)
            let nearest = EditDistance.nearest(to: name, among: names)
            throw ConfigurationError(
                .badValue, place.of("log-level"), "unknown level '\(name)'",
                hint: "write \(nearest.map { "\"\($0)\"" } ?? "one of: " + names.joined(separator: ", "))")
        }
        self = level
    }
}
