import ArgumentParser
import DeviceKit
import FirmwareSim
import Glibc
import PeripheralSim

struct SimPeerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peer", abstract: "Offer a simulated text and image peer.",
        discussion: ServingOptions.discussion
            + " It waits for a reader that is slow, and drops nothing. It greets by its --name, over a cable too.",
        example: "pumpctl sim peer --tcp 7000 --image photo.png")

    /// The sizes of an image that can be asked for; the largest is more than any receiver takes.
    static let sizes = PeerPicture.leastByteCount...10_000_000
    static let chunkLengths = 1...180

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var own: JSONOption
    var shared: SharedOptions { own.shared }
    @OptionGroup var serving: ServingOptions
    @OptionGroup var radio: RadioOptions

    @Option(help: ArgumentHelp("The PNG to send.", valueName: "file"))
    var image: String?

    @Option(help: ArgumentHelp("What a generated image depends on (default: 1).", valueName: "number"))
    var seed: UInt64?

    @Option(help: ArgumentHelp("The size of a generated image, a PNG, in bytes (default: 20000).", valueName: "bytes"))
    var size: Int?

    @Option(help: ArgumentHelp("How many base64 characters a line of the image has.", valueName: "number"))
    var chunk = 180

    @Option(
        help: ArgumentHelp("What is wrong with the image: \(faults).", valueName: "fault"),
        transform: { try fault(named: $0) })
    var fault: PeerFirmwareOptions.ImageFault?

    @Option(
        help: ArgumentHelp("The time between two messages of its own.", valueName: "time"),
        transform: SecondsArgument.typed)
    var interval: SecondsArgument?

    @Flag(help: "Acknowledge Hello, which the published peer does not do.")
    var acks = false

    private static var faults: String {
        PeerFirmwareOptions.ImageFault.allCases.map(\.rawValue).joined(separator: ", ")
    }

    private static func fault(named name: String) throws -> PeerFirmwareOptions.ImageFault {
        guard let fault = PeerFirmwareOptions.ImageFault(rawValue: name) else {
            throw ValidationError("there is no fault '\(name)', but: \(faults)")
        }
        return fault
    }

    func validate() throws {
        if image != nil, seed != nil || size != nil {
            throw ValidationError("--image goes without --seed and --size, which are for a generated image")
        }
        guard size.map(Self.sizes.contains) ?? true else {
            throw ValidationError("--size is \(Self.sizes.lowerBound) to \(Self.sizes.upperBound)")
        }
        guard Self.chunkLengths.contains(chunk) else { throw ValidationError("--chunk is 1 to 180") }
        try radio.check(beside: serving, saysName: true)
    }

    func run() throws {
        let options = PeerFirmwareOptions(
            carrier: .line(serving.lineRate(.peer)), name: radio.name ?? "QDevice1", startTime: time(nil),
            seed: seed ?? 1, imageByteCount: size ?? 20_000, imageFault: fault, chunkLength: chunk,
            interval: interval?.duration, acknowledges: acks)
        let (serving, radio, image) = (serving, radio, image)
        try CommandRunner.run(shared.merged(with: parent.shared), for: .peer) { context in
            let options = try options.sending(image)
            if radio.isWanted { return try await radio.serve(PeerPeripheral(options), context) }
            try await serving.serve(PeerFirmware(options: options), waits: true, context)
        }
    }
}
