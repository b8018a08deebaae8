//! The panic handler: it calls a function that does not exist, so that an image links only if no panic can be
//! reached.

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn this_image_can_panic() -> !;
    }
    // SAFETY: never linked, so never called.
    unsafe { this_image_can_panic() }
}
