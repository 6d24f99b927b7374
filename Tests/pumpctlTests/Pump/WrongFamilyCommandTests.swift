import TestSupport
import Testing

@Suite("Commands for another family's device")
struct WrongFamilyCommandTests {
    @Test(
        "A command of another family is refused before anything is sent",
        arguments: [
            ["-p", "sim:led", "on"], ["-p", "sim:led", "off"],
            ["-p", "sim:pump", "led", "on"], ["-p", "sim:peer", "storm", "log", "get"],
            ["-p", "sim:pump", "peer", "say", "x"],
            ["-p", "sim:storm?seed=1", "status"],
        ])
    func refused(words: [String]) async throws {
        let ending = try await Pumpctl.start(words).ending()
        expectFailure(ending, 64, saying: "is of the family", hint: "pumpctl --help")
        #expect(ending.output == "")
    }

    @Test("A command for any device uses the endpoint's family")
    func anyDevice() async throws {
        let ending = try await Pumpctl.run("-p", "sim:led", "send", "LED")
        #expect(ending.output == "LED:0\n", "\(ending)")
    }
}
