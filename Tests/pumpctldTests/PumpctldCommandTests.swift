import ArgumentParser
import Testing

@testable import pumpctld

@Suite("pumpctld")
struct PumpctldCommandTests {
    @Test("is called so")
    func name() { #expect(PumpctldCommand.configuration.commandName == "pumpctld") }
}
