extension FamilyVerification {
    /// Checks of STATUS and TEMP while the pump is off.
    static let statusChecks: [Check] = [
        Check("pump.status.reply", 14, "STATUS is answered by one STATUS:{…} line, without OK") { bench in
            try await bench.ask("STATUS", .status)
            // While the pump is off, only debug output comes unsolicited.
            try await bench.expectNothing(for: .milliseconds(300), "one line")
        },
        Check(
            "pump.status.off-fields", 25,
            "a pump that is off reports no speed and no times, or Speed:0%,Runtime:0m,Remaining:30m"
        ) {
            bench in
            let status = try await bench.status()
            let names = status.names
            // Future firmware may send the fields in any order, and further fields.
            let resting = ["Speed": "0%", "Runtime": "0m", "Remaining": "30m"]
            for (name, value) in status.fields where resting[name] ?? value != value {
                throw CheckFailure(expected: "\(name):\(resting[name] ?? "")", got: "\(name):\(value)")
            }
            let hasTimes = status.fields.contains { resting[$0.name] != nil }
            bench.note(hasTimes ? "speed and times while off" : "no speed and no times while off")
            let doubled = Set(status.fields.map(\.name)).count != status.fields.count
            try require(!doubled && status.state == "OFF", "State:OFF, and each field once", got: names)
        },
        Check("pump.status.temperatures", 28, "a temperature has one decimal and at least four characters") { bench in
            try checkTemperatures(of: try await bench.status(), ["WaterTemp", "SkinTemp", "Temp"], bench)
        },
        Check("pump.temp.reply", 15, "TEMP is answered by one TEMP:… line, without OK") { bench in
            try await bench.ask("TEMP", .temperatures)
            try await bench.expectNothing(for: .milliseconds(300), "one line")
        },
        Check("pump.temp.form", 29, "TEMP:34.5, or TEMP:{Water:12.0C,Skin:34.5C}") { bench in
            let line = try await bench.ask("TEMP", .temperatures)[0]
            if let fields = StatusLine(line.text, kind: "TEMP") {
                try require(fields.names == "Water,Skin", "TEMP:{Water:…C,Skin:…C}", got: line.bytes.shown)
                try checkTemperatures(of: fields, ["Water", "Skin"], bench)
                bench.note("two thermistors")
            } else {
                let isWritten = WrittenTemperature(line.text.dropFirst("TEMP:".count)) != nil
                try require(isWritten, "TEMP:34.5, or TEMP:{Water:12.0C,Skin:34.5C}", got: line.bytes.shown)
                bench.note("one thermistor")
            }
            // STATUS and TEMP must report the same thermistors.
            let names = Set(try await bench.status().fields.map(\.name))
            let hasWater = line.text.hasPrefix("TEMP:{")
            if names.contains("WaterTemp") || names.contains("Temp") {
                let expected = hasWater ? "WaterTemp and SkinTemp" : "Temp"
                let isSame = names.contains("WaterTemp") == hasWater && names.contains("Temp") != hasWater
                try require(isSame, "\(expected) in STATUS, as in TEMP", got: names.sorted().joined(separator: ","))
            }
        },
    ]

    /// Fails if a field with one of these names is not in the format of a temperature.
    private static func checkTemperatures(of line: StatusLine, _ names: Set<String>, _ bench: Bench) throws {
        for (name, value) in line.fields where names.contains(name) {
            // Firmware without thermistors sends a question mark.
            if value == "?C" {
                bench.note("no thermistor")
                continue
            }
            let isWritten = value.hasSuffix("C") && WrittenTemperature(value.dropLast()) != nil
            try require(isWritten, "\(name):34.5C, \(name): 9.5C or \(name): nanC", got: "\(name):\(value)")
        }
    }
}

extension Bench {
    /// Fails the check if anything but debug output arrives within `time`.
    func expectNothing(for time: Duration, _ expected: String) async throws {
        let deadline = elapsed + time
        while let line = try await line(by: deadline) {
            if !line.isOfDebugBuild {
                throw CheckFailure(expected: expected, got: "a further line: \(line.bytes.shown)")
            }
        }
    }
}

extension HeardLine {
    /// Whether the line is free text of a debug build, such as `[BT] …` or `[PUMP] …`, which may come at any time.
    var isOfDebugBuild: Bool { text.hasPrefix("[") }
}
