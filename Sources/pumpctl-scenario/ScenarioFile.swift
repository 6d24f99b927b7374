import FirmwareSim
import TOMLReading

/// A scenario as it is written: what the simulated device is, what it does wrong, what happens to it, and what its host has to
/// do.
///
/// ```toml
/// family = "pump"
/// seed = 7
///
/// [device]
/// knob = 716
///
/// [[fault]]
/// name = "drop"
/// when = "5%"
///
/// [[step]]
/// when = "10s"
/// do = "temperature skin 41"
///
/// [expect]
/// one-in-flight = true
/// pacing = "50ms"
///
/// [[expect.reaction]]
/// to = "ERROR:OVERHEAT"
/// within = "5s"
/// send = "OFF"
/// ```
enum ScenarioFile {
    /// An option that a scenario amounts to, as `--NAME VALUE` gives it.
    struct ScenarioOption {
        var name: String
        var value: String
        /// Where it stands; nil if that is not known.
        var line: Int?
    }

    /// The options of a scenario, in the order of the file's tables.
    ///
    /// - Throws: An error whose place names the line too, if that is known.
    static func options(toml text: String) throws(ConfigurationError) -> [ScenarioOption] {
        let (file, lines) = (try TableReader(toml: text), LineIndex(text))
        var options: [ScenarioOption] = []
        try locating(lines) { () throws(ConfigurationError) in
            try file.allowKeys(["family", "seed", "device", "fault", "step", "expect"])
            for key in ["family", "seed"] {
                guard let value = try file.text(key) else { continue }
                options.append(ScenarioOption(name: key, value: value, line: lines.line(of: key)))
            }
            guard let device = try file.table("device") else { return }
            for key in device.keys {
                guard let value = try device.text(key) else { continue }
                options.append(ScenarioOption(name: key, value: value, line: lines.line(of: key, in: "device")))
            }
        }
        options += try each("fault", "name", of: file, lines, fault)
        options += try each("step", "when", of: file, lines, step)
        try locating(lines) { () throws(ConfigurationError) in
            guard let table = try file.table("expect") else { return }
            for (key, value) in try expectations(table) {
                options.append(ScenarioOption(name: "expect", value: value, line: lines.line(of: key, in: "expect")))
            }
            options += try each("reaction", "to", of: table, lines, reaction).map {
                ScenarioOption(name: "expect", value: $0.value, line: $0.line)
            }
        }
        return options
    }

    /// An option for each of the tables of a key, which stands on the line of another key in it.
    private static func each(
        _ name: String, _ key: String, of table: TableReader, _ lines: LineIndex,
        _ value: (TableReader) throws(ConfigurationError) -> String
    ) throws(ConfigurationError) -> [ScenarioOption] {
        var options: [ScenarioOption] = []
        try locating(lines) { () throws(ConfigurationError) in
            for (number, table) in try table.tables(name).enumerated() {
                try locating(lines, number) { () throws(ConfigurationError) in
                    let line = lines.line(of: key, in: table.name, number)
                    options.append(ScenarioOption(name: name, value: try value(table), line: line))
                }
            }
        }
        return options
    }

    /// Has an error name the line of its key in the table of that number, unless it names one.
    private static func locating(
        _ lines: LineIndex, _ number: Int = 0, _ body: () throws(ConfigurationError) -> Void
    ) throws(ConfigurationError) {
        do throws(ConfigurationError) { try body() } catch {
            let parts = error.place.split(separator: "] ", maxSplits: 1)
            let (table, key) = parts.count == 2 ? (String(parts[0].dropFirst()), String(parts[1])) : ("", error.place)
            guard !error.place.hasPrefix("line "), let line = lines.line(of: key, in: table, number) else {
                throw error
            }
            var located = error
            located.place = "line \(line): \(error.place)"
            throw located
        }
    }

    private static func fault(_ table: TableReader) throws(ConfigurationError) -> String {
        try table.allowKeys(["name", "amount", "when"])
        var text = try needed("name", "drop", in: table)
        if let amount = try table.text("amount") { text += "=\(amount)" }
        if let occasion = try table.text("when") { text += "@\(occasion)" }
        return try listed(text, in: table)
    }

    private static func step(_ table: TableReader) throws(ConfigurationError) -> String {
        try table.allowKeys(["when", "do"])
        let text = "\(try needed("when", "10s", in: table)) \(try needed("do", "press", in: table))"
        guard !text.contains(where: \.isNewline) else {
            throw ConfigurationError(
                .badValue, table.place.of("do"), "it has a line break", hint: "write one step for each")
        }
        return text
    }

    /// The rules but for reactions, by their keys.
    private static func expectations(_ table: TableReader) throws(ConfigurationError) -> [(key: String, value: String)]
    {
        try table.allowKeys(HostRule.all.map(\.name))
        var expectations: [(key: String, value: String)] = []
        for rule in HostRule.all where rule.name != "reaction" {
            switch try table.text(rule.name) {
            case nil, "off": break
            case "on": expectations.append((rule.name, rule.name))
            case let amount?: expectations.append((rule.name, try listed("\(rule.name)=\(amount)", in: table)))
            }
        }
        return expectations
    }

    private static func reaction(_ table: TableReader) throws(ConfigurationError) -> String {
        try table.allowKeys(["to", "within", "send"])
        let command = try table.string("send").map { "/\($0)" } ?? ""
        let (time, line) = (try needed("within", "5s", in: table), try needed("to", "ERROR:OVERHEAT", in: table))
        return try listed("reaction=\(time)\(command)@line:\(line)", in: table)
    }

    private static func needed(
        _ key: String, _ example: String, in table: TableReader
    ) throws(ConfigurationError) -> String {
        guard let text = try table.text(key) else {
            throw ConfigurationError(
                .missing, table.place.of(key), "it is missing", hint: "add it, as \(key) = \"\(example)\"")
        }
        return text
    }

    /// A text that becomes one of several, which commas part.
    private static func listed(_ text: String, in table: TableReader) throws(ConfigurationError) -> String {
        guard !text.contains(",") else {
            throw ConfigurationError(
                .badValue, table.name, "'\(text)' has a comma in it", hint: "leave out what begins with the comma")
        }
        return text
    }
}
