import FirmwareSim
import TOMLReading

extension ScenarioFile {
    /// An option that is equivalent to a part of a scenario, as in `--NAME VALUE`.
    struct ScenarioOption {
        var name: String
        var value: String
        /// The line in the file.
        var line: Int
    }

    /// Returns the options of a scenario: of its family, seed and device, then its faults, steps and expectations.
    static func options(toml text: String) throws(ConfigurationError) -> [ScenarioOption] {
        let file = try TableReader(toml: text)
        try file.allowKeys(["family", "seed", "device", "fault", "step", "expect"])
        var options = try values(of: ["family", "seed"], in: file)
        if let device = try file.table("device") { options += try values(of: device.keys, in: device) }
        options += try each("fault", "name", of: file, fault)
        options += try each("step", "when", of: file, step)
        if let table = try file.table("expect") {
            options += try expectations(table)
            options += try each("reaction", "to", of: table, reaction).map {
                ScenarioOption(name: "expect", value: $0.value, line: $0.line)
            }
        }
        return options
    }

    /// Returns an option, with the name of the key, for each of `keys` that the table has.
    private static func values(
        of keys: [String], in table: TableReader
    ) throws(ConfigurationError) -> [ScenarioOption] {
        var options: [ScenarioOption] = []
        for key in keys {
            guard let value = try table.text(key) else { continue }
            options.append(ScenarioOption(name: key, value: value, line: table.line(of: key)))
        }
        return options
    }

    /// Returns one option for each table `[[name]]`.
    ///
    /// - Parameters:
    ///   - key: The key in each table whose line number the option gets.
    ///   - value: Returns the value of the option for a table.
    private static func each(
        _ name: String, _ key: String, of table: TableReader,
        _ value: (TableReader) throws(ConfigurationError) -> String
    ) throws(ConfigurationError) -> [ScenarioOption] {
        var options: [ScenarioOption] = []
        for table in try table.tables(name) {
            options.append(ScenarioOption(name: name, value: try value(table), line: table.line(of: key)))
        }
        return options
    }

    /// Returns a fault as `--fault` takes it, such as `delay=2s@10%`.
    private static func fault(_ table: TableReader) throws(ConfigurationError) -> String {
        try table.allowKeys(["name", "amount", "when"])
        var text = try needed("name", "drop", in: table)
        if let amount = try table.text("amount") { text += "=\(amount)" }
        if let occasion = try table.text("when") { text += "@\(occasion)" }
        return try listed(text, in: table)
    }

    /// Returns a step as `--step` takes it, such as `10s press`.
    private static func step(_ table: TableReader) throws(ConfigurationError) -> String {
        try table.allowKeys(["when", "do"])
        let text = "\(try needed("when", "10s", in: table)) \(try needed("do", "press", in: table))"
        guard !text.contains(where: \.isNewline) else {
            throw ConfigurationError(
                .badValue, table.place.of("do"), "contains a line break", hint: "write a step for each action",
                line: table.line(of: "do"))
        }
        return text
    }

    /// Returns an option for each rule that is not off, except `reaction`, which has tables of its own.
    private static func expectations(_ table: TableReader) throws(ConfigurationError) -> [ScenarioOption] {
        try table.allowKeys(HostRule.all.map(\.name))
        var options: [ScenarioOption] = []
        for rule in HostRule.all where rule.name != "reaction" {
            let value: String
            switch try table.text(rule.name) {
            case nil, "off": continue
            case "on": value = rule.name
            case let amount?: value = try listed("\(rule.name)=\(amount)", in: table)
            }
            options.append(ScenarioOption(name: "expect", value: value, line: table.line(of: rule.name)))
        }
        return options
    }

    /// Returns a rule as `--expect` takes it, such as `reaction=5s/OFF@line:ERROR:OVERHEAT`.
    private static func reaction(_ table: TableReader) throws(ConfigurationError) -> String {
        try table.allowKeys(["to", "within", "send"])
        let command = try table.string("send").map { "/\($0)" } ?? ""
        let (time, line) = (try needed("within", "5s", in: table), try needed("to", "ERROR:OVERHEAT", in: table))
        return try listed("reaction=\(time)\(command)@line:\(line)", in: table)
    }

    /// Returns the value of a key that the table must have.
    ///
    /// - Parameter example: A value for the hint if the key is missing.
    private static func needed(
        _ key: String, _ example: String, in table: TableReader
    ) throws(ConfigurationError) -> String {
        guard let text = try table.text(key) else {
            throw ConfigurationError(
                .missing, table.place.of(key), "missing", hint: "add the key, as \(key) = \"\(example)\"",
                line: table.line(of: key))
        }
        return text
    }

    /// Returns a text that becomes one item of a list separated by commas. Throws if the text contains a comma.
    private static func listed(_ text: String, in table: TableReader) throws(ConfigurationError) -> String {
        guard !text.contains(",") else {
            throw ConfigurationError(
                .badValue, table.name, "'\(text)' contains a comma", hint: "remove the comma and the text after it",
                line: table.line())
        }
        return text
    }
}
