import DeviceKit
import LineProtocol
import RecordFormat
import StrictJSON
import TestSupport
import Testing
import Transports

@Suite("The table of families")
struct FamilyTests {
    @Test("Family names are unique, and so are commands, events, errors and fields of a family")
    func uniqueness() {
        expectUnique(Family.all.map(\.name))
        for family in Family.all {
            expectUnique(family.commands.map(\.name))
            expectUnique(family.events.map(\.line))
            expectUnique(family.errors.map(\.code))
            expectUnique(family.state.map(\.key))
        }
    }

    private func expectUnique(_ words: [String]) { #expect(Set(words).count == words.count, "\(words)") }

    @Test("Each family has a stop or a reason for having none", arguments: Family.all)
    func stop(family: Family) {
        let reason = family.reasonForNoStop { "<\($0)>" }
        #expect((family.stop == nil) == (reason != nil))
        // The raw family has no stop, but its wire rules have one: a caller that requests OFF of a raw device knows
        // that the device is a pump.
        #expect((family.wire.stop == nil) == (family.stop == nil && family != .raw))
        #expect(reason?.contains("{") != true)
    }

    @Test("Remedies and the reason for having no stop name only commands of the family", arguments: Family.all)
    func references(family: Family) {
        var named: [String] = []
        for error in family.errors {
            _ = error.remedy { command in
                named.append(command)
                return command
            }
        }
        _ = family.reasonForNoStop { command in
            named.append(command)
            return command
        }
        for name in named { #expect(family.commands.contains { $0.name == name }, "\(name)") }
    }

    @Test("A command line has a placeholder for each of its parameters", arguments: Family.all)
    func parameters(family: Family) {
        for command in family.commands {
            let places = command.line.split(separator: "{").dropFirst(command.line.hasPrefix("{") ? 0 : 1)
                .map { String($0.prefix { $0 != "}" }) }
            #expect(places == command.parameters.map(\.name), "\(command.line)")
        }
    }

    @Test("The pump's commands in the table match those of its session, with their effects")
    func pumpCommands() throws {
        let sent: [String: PumpCommand] = [
            "on": .on, "off": .off, "speed": .speed(try #require(PumpSpeed(pwm: 200))), "status": .status,
            "temp": .temperature,
        ]
        #expect(Set(sent.keys) == Set(Family.pump.commands.map(\.name)))
        for command in Family.pump.commands {
            let pump = try #require(sent[command.name])
            #expect(command.line.replacing("{speed}", with: "200") == pump.text)
            #expect(command.effect == PumpFamily.effect(of: pump))
        }
        #expect(Family.pump.question?.line == PumpFamily.statusQuery?.text)
        #expect(Family.pump.readingTime == PumpFamily.readingTime)
    }

    @Test("The LED board's commands in the table match those of its session")
    func ledCommands() {
        let lines = [LEDCommand.read(.led), .write(.led, .boolean(true)), .write(.led, .boolean(false))].map(\.text)
        #expect(Family.led.commands.map(\.line) == lines)
        #expect(Family.led.question?.line == LEDFamily.statusQuery?.text)
    }

    @Test("Recorded pump values are fields of the family, within their ranges")
    func pumpFields() throws {
        var state = PumpState()
        for line in [
            "PUMP:ON", "SPEED:200",
            "STATUS:{State:ON,Speed:78%,Runtime:5m,Remaining:25m,WaterTemp:12.0C,SkinTemp:34.5C,Temp:30.0C}",
            "ERROR:OVERHEAT",
        ] {
            state.apply(PumpMessage(line: Array(line.utf8).span, ending: .lineFeed))
        }
        let json = Reading(PumpFamily.values(of: state), of: .pump).json
        var count = 0
        for member in try #require(JSONValue(parsing: json).members) {
            let field = try #require(Family.pump.field(member.name), "\(member.name)")
            let text = member.value.text ?? member.value.json
            #expect(field.value.accepts(text), "\(member.name) is \(text)")
            count += 1
        }
        #expect(count >= 6, "\(json)")
    }

    @Test("A remedy is worded by the program that shows it")
    func remedies() {
        let error = Family.pump.error("PUMP_NOT_RUNNING")
        #expect(error?.remedy { "press \($0)" }?.hasPrefix("switch the pump on first: press on; after a stop") == true)
        #expect(Family.pump.error("NO_SUCH") == nil)
    }

    @Test(
        "A range accepts the values within it and describes itself",
        arguments: [
            (ValueRange.integer(0...255), "255", "256", "0 to 255"),
            (.number(-40...125), "-40.0", "125.1", "-40 to 125"),
            (.boolean, "true", "yes", "true or false"), (.choice(["on", "off"]), "on", "On", "on or off"),
            (.text(maximumByteCount: 2), "é", "éa", "text of at most 2 bytes"),
        ])
    func ranges(range: ValueRange, inside: String, outside: String, words: String) {
        #expect(range.accepts(inside))
        #expect(!range.accepts(outside))
        #expect("\(range)" == words)
    }

    @Test("An endpoint uses the family's baud rate unless it names one")
    func endpoints() throws {
        #expect(try Endpoint("/dev/ttyUSB0").adapted(to: .storm).serial?.baudRate == 115_200)
        #expect(try Endpoint("serial:/dev/ttyUSB0?baud=300").adapted(to: .storm).serial?.baudRate == 300)
        #expect(try Endpoint("ble:HMSoft").adapted(to: .pump).options["family"] == "pump")
        #expect(try Endpoint("tcp:bench:4000").adapted(to: .pump) == Endpoint("tcp:bench:4000"))
    }
}
