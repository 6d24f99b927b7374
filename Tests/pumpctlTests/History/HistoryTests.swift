import Foundation
import RecordFormat
import TestSupport
import Testing

@testable import pumpctl

@Suite("pumpctl history")
struct HistoryTests {
    private let history = RecordedHistory()

    /// Adds a pump's record of two minutes, with one reading every ten seconds from 2026-03-28T12:00:00Z: six while the
    /// pump is off, and six while it is on.
    private func addPump() async throws {
        try await history.add(
            (0..<12).map { number in
                let speed = number < 6 ? #""off""# : #""on","speed_percent":70"#
                return (
                    1_774_699_200 + Double(number) * 10,
                    #"{"state":\#(speed),"water_temp_c":\#(12 + number),"skin_temp_c":34.5}"#
                )
            })
    }

    @Test("CSV contains no terminal escapes and no spreadsheet formulas")
    func harmlessCSV() async throws {
        let record = RecordedHistory()
        try await record.add(family: "storm", [(0, #"{"pipe":"=1+1","port":"\u001b[2J","point":"-3","value":-4.5}"#)])
        let rows = try await record.show("--csv").output.split(separator: "\n")
        #expect(rows.count == 2)
        #expect(rows.last?.hasSuffix(#",'=1+1,\x1b[2J,-3,-4.5"#) == true, "\(rows)")
    }

    @Test("JSON contains no terminal escapes")
    func harmlessJSON() async throws {
        let record = RecordedHistory()
        try await record.add(family: "storm", [(0, "{\"pipe\":\"\u{9B}2J\u{202E}é\",\"value\":1}")])
        let shown = try await record.show("--json")
        #expect(shown.output.contains(#""pipe":"\u009b2J\u202eé""#), "\(shown)")
        #expect(try shown.object()["pipe"] as? String == "\u{9B}2J\u{202E}é")
    }

    @Test("--since and --until limit the rows")
    func times() async throws {
        try await addPump()
        let shown = try await history.show(
            "--json", "--since", "2026-03-28T12:00:30Z", "--until", "2026-03-28T12:01:00Z"
        ).objects()
        #expect(
            shown.map { $0["time"] as? String } == [
                "2026-03-28T12:00:30.000Z", "2026-03-28T12:00:40.000Z", "2026-03-28T12:00:50.000Z",
            ])
        #expect(try await history.show("--json", "--since", "2026-03-28T12:01:50Z").objects().count == 1)
        #expect(try await history.show("--json", "--until", "2026-03-28T12:00:10Z").objects().count == 1)
    }

    @Test("A date means local time, before and after the change to summer time")
    func localTimes() async throws {
        // The midnights in Berlin before and after the change. Each has a row, and so has the hour before each.
        let midnights: [Double] = [1_774_738_800, 1_774_821_600]
        try await history.add(
            midnights.flatMap { midnight in [-3600, 0].map { (midnight + $0, #"{"temp_c":20}"#) } })
        let zone = "CET-1CEST,M3.5.0,M10.5.0/3"
        let shown = try await history.show("--json", "--since", "2026-03-29", "--until", "2026-03-30", zone: zone)
        #expect(
            try shown.objects().map { $0["time"] as? String } == [
                "2026-03-28T23:00:00.000Z", "2026-03-29T21:00:00.000Z",
            ])
        let table = try await history.show("--since", "2026-03-29 23:30", zone: zone)
        #expect(table.output.contains("2026-03-30 00:00:00"), "\(table)")
        #expect(table.output.split(separator: "\n").count == 2, "\(table)")
        let utc = try await history.show("--json", "--since", "2026-03-29Z", "--until", "2026-03-30Z", zone: zone)
        #expect(try utc.objects().count == 2)
    }

    @Test("A leap second at the end of a day in summer time is the beginning of the next day")
    func leapSecond() async throws {
        try await history.add([(1_782_943_200, #"{"temp_c":20}"#)])
        let zone = "CET-1CEST,M3.5.0,M10.5.0/3"
        let shown = try await history.show("--json", "--since", "2026-07-01 23:59:60", zone: zone)
        #expect(try shown.objects().map { $0["time"] as? String } == ["2026-07-01T22:00:00.000Z"])
    }

    @Test("Both hours of the change to winter time are shown, each with its offset")
    func repeatedHour() async throws {
        let zone = "CET-1CEST,M3.5.0,M10.5.0/3"
        // 02:29:30 and 02:30:30 in summer time, and an hour later again in winter time.
        let times: [Double] = [1_792_888_170, 1_792_888_230, 1_792_891_770, 1_792_891_830]
        try await history.add(times.map { ($0, #"{"temp_c":20}"#) })
        let table = try await history.show("--since", "2026-10-25 02:29", "--until", "2026-10-25 02:31", zone: zone)
        let shown = table.output.matches(of: /2026-10-25 02:..:30[+]0.:00/).map { String($0.0) }
        #expect(
            shown == [
                "2026-10-25 02:29:30+02:00", "2026-10-25 02:30:30+02:00", "2026-10-25 02:29:30+01:00",
                "2026-10-25 02:30:30+01:00",
            ], "\(table)")
        #expect(try await history.show("--json", "--since", shown[2], zone: zone).objects().count == 2)
        // As an end, 02:00 means the second 02:00 of that night, after two rows.
        for (until, count) in [("02:00", 2), ("03:00", 4), ("02:30+02:00", 1)] {
            let rows = try await history.show("--json", "--until", "2026-10-25 " + until, zone: zone)
            #expect(try rows.objects().count == count, "\(until): \(rows)")
        }
    }

    @Test("--plot draws values, states and times")
    func plot() async throws {
        try await addPump()
        let shown = try await history.show("--plot", environment: ["COLUMNS": "60", "LINES": "24"])
        #expect(shown.status == 0)
        let lines = shown.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).dropLast()
        // One line of the terminal is left for the shell's prompt.
        #expect(lines.count == 23 && lines.allSatisfy { $0.count <= 60 }, "\(shown.output)")
        #expect(lines.first == "/dev/ttyUSB0, 2026-03-28 12:00 to 2026-03-28 12:01")
        // The water rises by one degree per reading, the skin stays the same, and six readings have a speed.
        for (mark, count) in [("* water", 12), ("o skin", 12), ("+ speed", 6)] {
            #expect(lines.contains { $0.contains(mark) }, "\(shown.output)")
            let columns = Set(
                lines.flatMap { line in line.enumerated().filter { $0.element == mark.first }.map(\.offset) })
            #expect(columns.count >= count, "\(mark): \(shown.output)")
        }
        let states = try #require(lines.first { $0.contains("░░░") && !$0.contains("off") })
        #expect(states.contains("░█") && states.hasSuffix("█"), "\(states)")
    }

    @Test("--svg draws the recorded values")
    func svg() async throws {
        try await addPump()
        let path = history.home.path("pump.svg")
        let shown = try await history.show("--svg", path)
        #expect(shown.status == 0 && shown.errors == "" && shown.output == "")
        let drawing = try SVGDrawing(String(contentsOfFile: path, encoding: .utf8))
        #expect(drawing.lines.map(\.count).sorted() == [6, 12, 12])
        #expect(drawing.texts.contains("/dev/ttyUSB0, 2026-03-28 12:00 to 2026-03-28 12:01"))
    }

    @Test(
        "An impossible terminal size is replaced by a usable one", arguments: ["9223372036854775807", "99999999", "-3"])
    func sizes(_ number: String) async throws {
        try await addPump()
        let shown = try await history.show("--plot", environment: ["COLUMNS": number, "LINES": number])
        #expect(shown.status == 0 && shown.output.contains("* water"), "\(shown.errors)")
        #expect(shown.output.utf8.count < 1_000_000)
        let help = try await Pumpctl.run("history", "--help", environment: ["COLUMNS": number, "LINES": number])
        #expect(help.status == 0 && help.output.contains("--since"), "\(help.errors)")
    }

    @Test("An empty record is reported without a failure", arguments: [true, false])
    func nothing(isDatabaseThere: Bool) async throws {
        if isDatabaseThere { try await addPump() }
        let filter = isDatabaseThere ? ["--device", "none"] : []
        for arguments in [[], ["--json"], ["--events"], ["--sessions", "--csv"], ["--plot"], ["--csv"]] {
            let ending = try await Pumpctl.start(
                ["history"] + arguments + filter, environment: ["XDG_DATA_HOME": history.home.path]
            ).ending()
            #expect(ending.status == 0, "\(arguments): \(ending)")
            #expect(ending.output.split(separator: "\n").count == (arguments.contains("--csv") ? 1 : 0), "\(ending)")
            #expect(ending.errors.contains("no ") && ending.errors.contains("hint: "), "\(arguments): \(ending)")
        }
    }

    @Test("If there is nothing to draw, an SVG file is neither changed nor created")
    func nothingToDraw() async throws {
        let path = history.home.write("of yesterday", to: "pump.svg")
        for (svg, content) in [(path, "of yesterday"), (history.home.path("new.svg"), nil)] {
            let ending = try await history.show("--svg", svg, "--device", "none")
            #expect(ending.status == 0)
            #expect(ending.errors.contains("\(svg) is unchanged"), "\(ending)")
            #expect((try? String(contentsOfFile: svg, encoding: .utf8)) == content)
        }
        #expect(try await history.show("--svg", "-", "--device", "none").output == "")
    }

    @Test("--where prints the path before there is a record; --optimize needs a record")
    func place() async throws {
        let place = try await history.show("--where", "--json").object()
        #expect(place["path"] as? String == history.home.path("pumpctl/record.sqlite"))
        #expect(place["bytes"] as? Int == 0)
        expectFailure(try await history.show("--optimize"), 66, saying: "nothing has been recorded", hint: "monitor")
        try await addPump()
        #expect(try await history.show("--where", "--json").object()["optimized"] as? Bool == true)
        #expect(try await history.show("--optimize", "--json").object()["changed"] as? Bool == false)
    }

    @Test(
        "An invalid time is refused with valid forms",
        arguments: [["--since", "soon"], ["--until", "2026-02-30"], ["--since", "1h", "--until", "2h"]])
    func wrongTimes(_ arguments: [String]) async throws {
        let ending = try await Pumpctl.start(["history"] + arguments).ending()
        expectFailure(ending, 64, saying: arguments[0], hint: "pumpctl history")
        if arguments.count == 2 {
            for form in ["7d", "yesterday", "2026-11-20T17:04"] { #expect(ending.errors.contains(form)) }
        }
    }

    @Test(
        "history refuses conflicting arguments",
        arguments: [
            ["history", "--csv", "--json"], ["history", "--plot", "--csv"], ["history", "--events", "--sessions"],
            ["history", "--where", "--csv"], ["history", "--where", "--since", "1h"],
            ["history", "--optimize", "--plot"],
        ])
    func arguments(_ arguments: [String]) async throws {
        let ending = try await Pumpctl.start(arguments).ending()
        expectFailure(ending, 64, saying: "pumpctl: ", hint: "pumpctl")
    }

    @Test("A plot leaves out a pump's run time and PWM, unless there is nothing else to draw")
    func left() {
        func series(_ name: String, _ family: String = "pump") -> FoldedSeries {
            FoldedSeries(family: family, endpoint: "sim:pump", device: nil, part: "", name: name, points: [])
        }
        let all = ["speed_pwm", "runtime_min", "skin_temp_c", "speed_percent", "state"].map { series($0) }
        let led = series("led", "led")
        #expect(
            HistoryPlot.shown(all + [led]).map(\.name) == ["skin_temp_c", "speed_percent", "state", "led"])
        #expect(HistoryPlot.shown(Array(all[..<2])) == Array(all[..<2]))
    }
}
