extension FamilyVerification {
    /// Checks of the syntax of commands, on a pump that is off.
    static let commandChecks: [Check] = [
        Check("pump.off.reply", 12, "OFF is answered by OK, PUMP:OFF, also while the pump is off") { bench in
            try await bench.ask("OFF", "OK", "PUMP:OFF")
        },
        Check("pump.command.unknown", 16, "any other command is answered by ERROR:UNKNOWN_COMMAND") { bench in
            try await bench.ask("FOO", "ERROR:UNKNOWN_COMMAND")
        },
        Check("pump.command.case", 7, "commands are case-insensitive") { bench in
            try await bench.ask("tEmP", .temperatures)
            try await bench.ask("sTaTuS", .status)
            try await bench.ask("oFf", "OK", "PUMP:OFF")
            try await bench.ask("sPeEd:300", refusedSpeed)
        },
        Check("pump.command.untrimmed", 8, "no spaces are trimmed") { bench in
            for command in [" TEMP", "TEMP ", "\tSTATUS", " OFF"] {
                try await bench.ask(command, "ERROR:UNKNOWN_COMMAND")
            }
        },
        Check("pump.command.whole", 16, "the beginning of a command is answered by ERROR:UNKNOWN_COMMAND") {
            bench in
            for command in ["TEM", "TEMPS", "OF", "OFFF", "STATU"] {
                try await bench.ask(command, "ERROR:UNKNOWN_COMMAND")
            }
        },
        Check("pump.command.nul", 9, "all bytes after a NUL in a command are ignored") { bench in
            try await bench.ask("TEMP\0junk", .temperatures)
            try await bench.ask("T\0EMP", "ERROR:UNKNOWN_COMMAND")
        },
    ]
}
