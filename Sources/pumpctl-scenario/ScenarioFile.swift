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
    /// The options that a scenario amounts to, as `--NAME VALUE` gives them, in the order of the file's tables.
    static func options(toml text: String) throws(ConfigurationError) -> [(name: String, value: String)] {
        let file = try TableReader(toml: text)
        try file.allowKeys(["family", "seed", "device", "fault", "step", "expect"])
        var options: [(name: String, value: String)] = []
        for key in ["family", "seed"] {
            if let value = try file.text(key) { options.append((key, value)) }
        }
        if let device = try file.table("device") {
            for key in device.keys {
                if let value = try device.text(key) { options.append((key, value)) }
            }
        }
        for table in try file.tables("fault") { options.append(("fault", try fault(table))) }
        for table in try file.tables("step") { options.append(("step", try step(table))) }
        if let table = try file.table("expect") {
            for expectation in try expectations(table) { options.append(("expect", expectation)) }
        }
        return options
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

    private static func expectations(_ table: TableReader) throws(ConfigurationError) -> [String] {
        try table.allowKeys(HostRule.all.map(\.name))
        var expectations: [String] = []
        for rule in HostRule.all where rule.name != "reaction" {
            switch try table.text(rule.name) {
            case nil, "off": break
            case "on": expectations.append(rule.name)
            case let amount?: expectations.append(try listed("\(rule.name)=\(amount)", in: table))
            }
        }
        for reaction in try table.tables("reaction") {
            try reaction.allowKeys(["to", "within", "send"])
            let command = try reaction.string("send").map { "/\($0)" } ?? ""
            let (time, line) = (
                try needed("within", "5s", in: reaction), try needed("to", "ERROR:OVERHEAT", in: reaction)
            )
            expectations.append(try listed("reaction=\(time)\(command)@line:\(line)", in: reaction))
        }
        return expectations
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
