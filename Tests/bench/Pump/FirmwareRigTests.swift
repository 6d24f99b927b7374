import Testing

@Suite("Bench: firmware available")
struct FirmwareRigTests {
    // A cancelled case of a parameterized test is not reported; this test is.
    @Test(
        "Our firmware builds and runs in simavr",
        .enabled(if: FirmwareBuild.reasonToSkip == nil, Comment(rawValue: FirmwareBuild.reasonToSkip ?? "")))
    func firmware() async throws {
        try await RigKind(pump: .firmware, thermistors: 2).run { rig in
            let motor = try await rig.motor()
            #expect(motor == .off)
        }
    }
}
