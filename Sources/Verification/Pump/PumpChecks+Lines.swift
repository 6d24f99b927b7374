extension FamilyVerification {
    /// Checks of the way in which bytes become commands.
    static let lineChecks: [Check] = [
        Check("pump.line.end", 6, "lines end with \\r\\n; those of older firmware with a bare \\n") { bench in
            let lines = try await bench.ask("OFF", "OK", "PUMP:OFF")
            try require(
                lines[0].endsWithReturn == lines[1].endsWithReturn, "all lines with the same end",
                got: "\\r\\n and \\n mixed")
            try require(!lines.contains(where: \.hasNULs), "no NUL next to a line", got: "a NUL next to OK or PUMP:OFF")
            bench.note(lines[0].endsWithReturn ? "lines end with \\r\\n" : "lines end with \\n")
        },
        Check("pump.line.return", 5, "a command ends with \\n or \\r") { bench in
            try await bench.ask(raw: "TEMP\r", [.temperatures])
        },
        Check("pump.line.both", 5, "an empty line is ignored, as between \\r and \\n") { bench in
            try await bench.ask(raw: "TEMP\r\n", [.temperatures])
        },
        Check("pump.line.empty", 5, "an empty line is ignored") { bench in
            try await bench.ask(raw: "\n\r\n\nTEMP\n", [.temperatures])
        },
        Check("pump.line.parts", 5, "only \\n or \\r ends a command") { bench in
            try await bench.send("TE")
            try await bench.quiet(for: .milliseconds(400))
            try await bench.ask("MP", .temperatures)
        },
        Check("pump.line.longest", 10, "a command has at most 63 bytes") { bench in
            try await bench.sendInParts(String(repeating: "X", count: 63))
            try await bench.ask("", "ERROR:UNKNOWN_COMMAND")
        },
        Check("pump.line.too-long", 10, "the 64th byte gives ERROR:CMD_TOO_LONG, and is dropped") { bench in
            try await bench.sendInParts(String(repeating: "X", count: 64))
            try await bench.ask("", "ERROR:CMD_TOO_LONG")
        },
        Check("pump.line.behind-too-long", 10, "the bytes after the 64th are read as a new command") { bench in
            try await bench.sendInParts(String(repeating: "X", count: 64) + "TE")
            try await bench.ask("MP", "ERROR:CMD_TOO_LONG", .temperatures)
        },
        Check("pump.line.rest-of-too-long", 10, "70 × X give CMD_TOO_LONG, then UNKNOWN_COMMAND") { bench in
            try await bench.sendInParts(String(repeating: "X", count: 70))
            try await bench.ask("", "ERROR:CMD_TOO_LONG", "ERROR:UNKNOWN_COMMAND")
        },
    ]
}

extension Bench {
    /// Sends a text in two parts, because the whole text may not fit into the UART's ring while the firmware reads
    /// nothing.
    fileprivate func sendInParts(_ text: String) async throws {
        try await send(String(text.prefix(40)))
        // Longer than a turn of the main loop, so that the firmware has read the first part.
        try await quiet(for: .milliseconds(400))
        try await send(String(text.dropFirst(40)))
    }
}
